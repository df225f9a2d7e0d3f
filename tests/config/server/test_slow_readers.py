"""Who takes its answer slowly gets all of it; who takes nothing is cut off."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial

import pytest
from django.test.utils import override_settings

from config.fastpath.asgi import Receive, Scope, Send, send_json
from config.server import connections, http_protocol
from tests.gateway.coding_agents.test_fails_closed import holds
from tests.support.live import Live, serve
from tests.support.raw import (
    exchange,
    find_end,
    get_address,
    head,
    look_at,
    read_answer,
)
from tests.support.waiting import until

LARGE = b"x" * 400_000
HOOK = "/api/v1/hooks/claude-code/PreToolUse"


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """A large answer at `/large`, half of one at `/half`, one without an end at
    `/endless`, else none at all."""
    if scope["type"] == "lifespan":
        for word in ("startup", "shutdown"):
            await receive()
            await send({"type": f"lifespan.{word}.complete"})
        return
    if scope["path"] == "/large":
        await send_json(send, status=200, body=LARGE)
        return
    if scope["path"] == "/half":
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"half", "more_body": True})
    if scope["path"] == "/endless":
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for _ in range(40):  # it waits for the reader at the second one
            body = {"type": "http.response.body", "body": LARGE, "more_body": True}
            await send(body)
    while (await receive())["type"] != "http.disconnect":
        pass


@contextmanager
def serve_unwatched(monkeypatch: pytest.MonkeyPatch) -> Iterator[Live]:
    """By itself it looks at its connections in an hour, and minds none that is idle."""
    monkeypatch.setattr(connections, "CHECK_SECONDS", 3600.0)
    with serve_small(HEAD_TIMEOUT_S=10**9) as live:
        yield live


@contextmanager
def serve_small(**limits: int) -> Iterator[Live]:
    """What it sends stays with it until somebody takes it."""
    with override_settings(**limits), serve(application, send_buffer=32_768) as live:
        yield live


def connect(live: Live) -> socket.socket:
    """With a small buffer, so that bytes nobody reads stay at the server."""
    link = socket.socket()
    link.settimeout(60)
    link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    link.connect(get_address(live))
    return link


@pytest.mark.parametrize("header", ["Connection: close", "X-Nothing: 1"])
def test_a_slow_reader_gets_all_of_its_answer(
    monkeypatch: pytest.MonkeyPatch, header: str
) -> None:
    """Its patience begins anew with each piece that is taken, also when all is written."""
    step, later, looks, left = http_protocol.STALLED_SECONDS - 1, 0.0, 0, 0
    with serve_unwatched(monkeypatch) as live, connect(live) as link:
        end = find_end(link.getsockname())
        link.sendall(head(live, "GET", "/large", header))
        heard = b""
        while heard.count(b"x") < len(LARGE) and (piece := link.recv(8_192)):
            heard += piece
            if left != end.transport.get_write_buffer_size() > 0:
                left = look_at(end, later=later)
                later, looks = later + step, looks + 1

    assert looks > 5
    assert heard.count(b"x") >= len(LARGE)


def test_who_takes_nothing_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    with serve_unwatched(monkeypatch) as live, ExitStack() as stack:
        before = count_files()
        for header in ("Connection: close", "X-Nothing: 1"):
            link = stack.enter_context(connect(live))
            link.sendall(head(live, "GET", "/large", header))
            wait_until_stalled(link)
        until(lambda: count_files() == before + 2)


def test_who_takes_nothing_of_an_answer_that_goes_on_is_cut_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nothing else ends it: the application waits for the reader, and no timer runs."""
    with serve_unwatched(monkeypatch) as live:
        before = count_files()
        with connect(live) as link:
            link.sendall(head(live, "GET", "/endless"))
            wait_until_stalled(link)
            until(lambda: count_files() == before + 1)


def test_who_takes_nothing_and_makes_room_leaves_no_file_open(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(http_protocol, "EVICTED_SECONDS", 1.0)
    with (
        serve_small(ADDRESS_CONNECTIONS=4) as live,
        ExitStack() as stack,
    ):
        before = count_files()
        for _ in range(40):
            link = stack.enter_context(connect(live))
            end = find_end(link.getsockname())
            link.sendall(head(live, "GET", "/large"))
            until(partial(is_left_with_something, end))
        until(lambda: count_files() <= before + 40 + 4)
    assert "could not be" not in caplog.text


def test_a_hook_whose_body_nobody_reads_is_denied(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(http_protocol, "GRACE_SECONDS", 0.0)
    with serve_small(BODY_TIMEOUT_S=1) as live, connect(live) as link:
        link.sendall(head(live, "POST", HOOK, "Content-Length: 9") + b"{")
        answer = read_answer(link)

    assert answer.status == 200
    assert answer.headers["checkrail-trouble"] == "request-timeout"
    assert holds("PreToolUse", answer.json())


def test_nothing_is_written_into_an_answer_under_way() -> None:
    with (
        serve_small(ADDRESS_CONNECTIONS=2) as live,
        connect(live) as link,
        ExitStack() as stack,
    ):
        link.sendall(head(live, "GET", "/half"))
        heard = b""
        while b"half" not in heard:
            heard += link.recv(8_192)
        link.sendall(head(live, "POST", "/large", "Content-Length: 9") + b"{")
        for _ in range(2):  # whoever comes later is answered later
            exchange(live, head(live, "GET", "/large", "Connection: close"))
        others = [stack.enter_context(connect(live)) for _ in range(3)]
        # It is being answered: nobody closes it, but those who wait, the longest first.
        assert [each.recv(1) for each in others[:2]] == [b"", b""]
        link.setblocking(False)
        with pytest.raises(BlockingIOError):
            link.recv(8_192)


def is_left_with_something(end: http_protocol.TimedProtocol) -> bool:
    return end.transport.get_write_buffer_size() > 0


def wait_until_stalled(link: socket.socket) -> None:
    """The server has looked at it until its patience was over, and not before."""
    end = find_end(link.getsockname())
    until(partial(is_left_with_something, end))
    look_at(end, later=1)
    look_at(end, later=http_protocol.STALLED_SECONDS)
    assert look_at(end, later=http_protocol.STALLED_SECONDS + 2) > 0


def count_files() -> int:
    """Of this process, in which both ends of every connection are."""
    return len(os.listdir("/proc/self/fd"))
