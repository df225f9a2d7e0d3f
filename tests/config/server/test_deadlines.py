"""A request has deadlines, and a connection that keeps us waiting makes room for others."""

from __future__ import annotations

import json
import select
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from django.db import connection

from tests.config.fastpath.streams import listen
from tests.gateway.coding_agents.test_fails_closed import holds
from tests.support.builders import make_project, make_robot, start_run
from tests.support.live import Live
from tests.support.processes import Process, another_web_process, manage, up
from tests.support.raw import RawAnswer, exchange, head, read_answer
from tests.support.waiting import until

HOOK = "/api/v1/hooks/claude-code/PreToolUse"
JSON = "Content-Type: application/json"
ROOM = 20
# What uvicorn's own patience with a closing socket is made: ten seconds otherwise.
PATIENT = """
from uvicorn.protocols.websockets import websockets_sansio_impl as sockets

begin = sockets.WebSocketsSansIOProtocol.__init__

def begin_patiently(self, *given, **named):
    begin(self, *given, **named)
    self.close_timeout = 3600.0

sockets.WebSocketsSansIOProtocol.__init__ = begin_patiently
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A server of its own, and the key of an agent there."""

    live: Live
    key: str

    @property
    def credential(self) -> str:
        return f"Authorization: Bearer {self.key}"

    def agent(self) -> httpx.Client:
        headers = {"Authorization": f"Bearer {self.key}"}
        return httpx.Client(base_url=self.live.api, headers=headers, timeout=60)

    def connect(self) -> socket.socket:
        url = urlsplit(self.live.url)
        return socket.create_connection(
            (url.hostname or "", url.port or 0), timeout=120
        )


@contextmanager
def running(
    data: Path, *, files: int | None = None, first: str = "", **variables: str
) -> Iterator[Server]:
    """By `up`, or by uvicorn on the PostgreSQL of this test run."""
    if connection.vendor == "postgresql":
        with another_web_process(
            variables=variables, files=files, first=first
        ) as process:
            robot = make_robot(project=make_project())
            yield Server(live=process.live, key=robot.key)
        return
    with up(data, variables=variables, files=files, first=first) as process:
        yield Server(live=process.live, key=_new_key(data, process))


def _new_key(data: Path, _process: Process) -> str:
    words = ("agent_key", "robo", "--project", "main", "--json")
    made = manage(*words, CHECKRAIL_DATA=str(data))
    key: str = json.loads(made.stdout)["key"]
    return key


@pytest.fixture(scope="module")
def server(
    database: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    """Hurried, and with room for few connections from one address."""
    first = tmp_path_factory.mktemp("first") / "patient.py"
    first.write_text(PATIENT)
    with running(
        tmp_path_factory.mktemp("hurried"),
        first=str(first),
        CHECKRAIL_HEAD_TIMEOUT_S="1",
        CHECKRAIL_BODY_TIMEOUT_S="2",
        CHECKRAIL_ADDRESS_CONNECTIONS=str(ROOM),
    ) as found:
        yield found


def ends(link: socket.socket) -> bytes:
    """All that comes until the server closes the connection."""
    heard = b""
    with suppress(ConnectionResetError):  # we may have sent more than was wanted
        while piece := link.recv(65_536):
            heard += piece
    return heard


def test_half_a_head_is_closed_with_408(server: Server) -> None:
    with server.connect() as link:
        link.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")
        for _ in range(600):  # also one that comes byte by byte
            if select.select([link], [], [], 0.1)[0]:
                break
            link.sendall(b"x")
        else:
            raise AssertionError("As long as bytes come, it is not closed.")
        heard = ends(link)

    assert heard.startswith(b"HTTP/1.1 408 ")
    assert b'"/problems/request-timeout"' in heard


def test_a_connection_that_says_nothing_is_closed(server: Server) -> None:
    with server.connect() as silent:
        assert ends(silent) == b""
    with server.connect() as idle:
        idle.sendall(head(server.live, "GET", "/healthz"))
        assert read_answer(idle).status == 200
        idle.settimeout(120)
        idle.sendall(b"\r\n")  # no request begins with it, and no timer stops for it
        ends(idle)


def test_half_a_body_is_answered_with_408(server: Server) -> None:
    answer = half_a_body(server, "/api/v1/runs", server.credential)

    assert answer.status == 408
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["type"] == "/problems/request-timeout"
    assert answer.headers["connection"] == "close"


def test_half_a_body_of_a_hook_is_denied(server: Server) -> None:
    answer = half_a_body(server, HOOK, server.credential)

    assert answer.status == 200
    assert answer.headers["checkrail-trouble"] == "request-timeout"
    assert holds("PreToolUse", answer.json())


@pytest.mark.parametrize("more", ["", f"{JSON}\r\nContent-Length: 1000\r\n\r\n{{"])
def test_a_hook_that_makes_room_is_denied(server: Server, more: str) -> None:
    with server.connect() as hook, ExitStack() as stack:
        hook.sendall(f"POST {HOOK} HTTP/1.1\r\n{server.credential}\r\n".encode())
        hook.sendall(f"Host: 127.0.0.1\r\n{more}".encode())
        for _ in range(2):  # what came before is read before the second is answered
            exchange(server.live, head(server.live, "GET", "/healthz"))
        for _ in range(ROOM + 1):
            stack.enter_context(server.connect())
        answer = read_answer(hook)

    assert answer.status == 200
    assert answer.headers["checkrail-trouble"] == "request-timeout"
    assert answer.headers["checkrail-hook"] == "1"
    assert answer.closed
    assert holds("PreToolUse", answer.json())


def test_half_a_form_is_answered_with_408(server: Server) -> None:
    answer = half_a_body(server, "/sign-in/", "X-Nothing: 1")

    assert answer.status == 408


def half_a_body(server: Server, path: str, *headers: str) -> RawAnswer:
    first = head(server.live, "POST", path, *headers, JSON, "Content-Length: 1000")
    return exchange(server.live, first, [b"{"])


def test_a_body_where_none_belongs_holds_no_connection(server: Server) -> None:
    with server.connect() as link:
        link.sendall(head(server.live, "GET", "/readyz", "Content-Length: 1000"))
        assert ends(link).startswith(b"HTTP/1.1 408 ")


def test_waiting_and_following_take_as_long_as_they_like(server: Server) -> None:
    with server.agent() as agent:
        run = start_run(agent)
        agent.post(
            f"/runs/{run}/reviews", json={"kind": "question", "title": "Which one?"}
        )
        with listen(agent, run) as heard:
            began = time.monotonic()
            answer = agent.get(f"/runs/{run}/decision", params={"wait": 9})
            assert answer.json()["state"] == "open"
            assert time.monotonic() - began > 8
            agent.post(f"/runs/{run}/finish", json={"outcome": "failed"})
            assert {entry["type"] for entry in heard.entries(2)} >= {"run.started"}


def test_one_too_many_is_told_so_and_a_hook_is_denied(server: Server) -> None:
    with server.agent() as agent, ExitStack() as stack:
        run = start_run(agent)
        agent.post(
            f"/runs/{run}/reviews", json={"kind": "question", "title": "Which one?"}
        )
        agent.close()
        path = f"/api/v1/runs/{run}/decision?wait=30"
        for _ in range(ROOM):
            link = stack.enter_context(server.connect())
            link.sendall(head(server.live, "GET", path, server.credential))

        def refused() -> bool:
            return (
                exchange(server.live, head(server.live, "GET", "/healthz")).status
                == 503
            )

        until(refused)
        whole = head(server.live, "GET", "/api/v1/runs", server.credential)
        answer = exchange(server.live, whole)
        assert answer.status == 503
        assert answer.headers["connection"] == "close"
        assert answer.closed
        assert answer.headers["retry-after"]
        assert answer.json()["type"] == "/problems/unavailable"
        length = "Content-Length: 2"
        hook = head(server.live, "POST", HOOK, server.credential, JSON, length)
        answer = exchange(server.live, hook, [b"{}"])
        assert (answer.status, answer.headers["checkrail-trouble"]) == (
            200,
            "unavailable",
        )
        assert holds("PreToolUse", answer.json())

    until(lambda: httpx.get(f"{server.live.url}/healthz").status_code == 200)


def test_a_thousand_half_requests_leave_room_for_whole_ones(
    database: None, tmp_path: Path
) -> None:
    with running(tmp_path, files=1_024) as server, ExitStack() as stack:
        with server.agent() as agent:
            run = start_run(agent)
        for number in range(1_100):
            link = stack.enter_context(server.connect())
            half = b"POST /sign-in/ HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "
            if number % 2:
                half = head(server.live, "POST", "/sign-in/", "Content-Length: 900")
            link.sendall(half)

        for number in range(1, 6):
            assert (
                httpx.get(f"{server.live.url}/healthz", timeout=30).status_code == 200
            )
            with server.agent() as agent:
                step = {"number": number, "tokens": 1, "tool_calls": 0}
                answer = agent.post(f"/runs/{run}/steps", json=step)
                assert answer.status_code == 201, answer.text


def test_sockets_of_strangers_leave_room_for_requests(server: Server) -> None:
    """Each is told that it is signed out, and never says that it has heard. uvicorn would
    wait for that for an hour."""
    upgrade = (
        *("Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13"),
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        f"Origin: {server.live.url}",
    )
    asked = head(server.live, "GET", "/ws/p/main/queue/", *upgrade)
    with ExitStack() as stack:
        for _ in range(3 * ROOM):
            link = stack.enter_context(server.connect())
            link.sendall(asked)
            read_answer(link)
        until(lambda: httpx.get(f"{server.live.url}/healthz").status_code == 200)
