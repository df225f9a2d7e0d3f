"""Steps that come whole get no task: what they are answered, and what goes the usual way."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import httpx
import pytest

from config.fastpath import at_once
from tests.support.builders import Robot, start_run, step
from tests.support.live import Live
from tests.support.rows import each_row

pytestmark = pytest.mark.once("judges requests, not what is stored")
STEP = json.dumps(step(1)).encode()


class Heard(NamedTuple):
    status: int
    body: dict[str, Any]


class Line:
    """A connection on which requests are sent as their bytes are given."""

    def __init__(self, live: Live) -> None:
        address = httpx.URL(live.url)
        self._socket = socket.create_connection((address.host, address.port or 80))
        self._socket.settimeout(60)
        self._file = self._socket.makefile("rb")

    def send(self, data: bytes) -> None:
        self._socket.sendall(data)

    def hear(self) -> Heard:
        status = int(self._file.readline().split()[1])
        length = 0
        while (line := self._file.readline().strip().lower()) != b"":
            if line.startswith(b"content-length:"):
                length = int(line.partition(b":")[2])
        return Heard(status, json.loads(self._file.read(length)))

    def close(self) -> None:
        self._file.close()
        self._socket.close()


@contextmanager
def open_line(live: Live) -> Iterator[Line]:
    line = Line(live)
    try:
        yield line
    finally:
        line.close()


def build_head(path: str, key: str, length: int, **more: str) -> bytes:
    headers = {
        "Host": "127.0.0.1",
        "Authorization": f"Bearer {key}",
        "Content-Type": "application/json",
        "Content-Length": str(length),
        **{name.replace("_", "-"): value for name, value in more.items()},
    }
    lines = [f"POST /api/v1{path} HTTP/1.1", *(f"{n}: {v}" for n, v in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode()


def test_a_step_needs_no_task(
    agent: httpx.Client, robo: Robot, live: Live, taken: list[bool]
) -> None:
    """Whether the body comes with the head or behind it, and one behind the other."""
    run = start_run(agent)
    with open_line(live) as line:
        for number in (1, 2, 3):
            raw = json.dumps(step(number)).encode()
            line.send(build_head(f"/runs/{run}/steps", robo.key, len(raw)))
            if number == 2:
                line.send(raw[:5])
                assert agent.get(f"/runs/{run}").json()["last_step"] == 1
                raw = raw[5:]
            line.send(raw)
            heard = line.hear()
            assert (heard.status, heard.body["decision"]) == (201, "continue")
            assert heard.body["receipt"]["seq"] == number + 1
    assert taken == [True] * 3
    assert agent.get(f"/runs/{run}").json()["last_step"] == 3


def test_requests_that_are_sent_before_their_turn_are_answered_in_order(
    agent: httpx.Client, robo: Robot, live: Live
) -> None:
    run = start_run(agent)
    every = b""
    for number in range(1, 6):
        raw = json.dumps(step(number)).encode()
        every += build_head(f"/runs/{run}/steps", robo.key, len(raw)) + raw
    with open_line(live) as line:
        line.send(every)
        heard = [line.hear() for _ in range(5)]
    assert [each.status for each in heard] == [201] * 5
    assert [each.body["receipt"]["seq"] for each in heard] == [2, 3, 4, 5, 6]


def test_the_same_step_again_is_answered_as_before(
    agent: httpx.Client, robo: Robot, live: Live, taken: list[bool]
) -> None:
    run = start_run(agent)
    raw = json.dumps(step(1)).encode()
    request = build_head(f"/runs/{run}/steps", robo.key, len(raw)) + raw
    with open_line(live) as line:
        line.send(request)
        first = line.hear()
        line.send(request)
        again = line.hear()
    assert first == again
    assert taken == [True, True]


def test_a_refusal_by_the_writer_is_said(
    agent: httpx.Client, robo: Robot, live: Live, taken: list[bool]
) -> None:
    run = start_run(agent)
    raw = json.dumps(step(7)).encode()
    with open_line(live) as line:
        line.send(build_head(f"/runs/{run}/steps", robo.key, len(raw)) + raw)
        heard = line.hear()
    assert (heard.status, heard.body["expected"]) == (409, 1)
    assert taken == [True]


def test_a_fault_of_ours_is_met_again_on_the_usual_way(
    agent: httpx.Client, robo: Robot, live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_raw: bytes) -> None:
        raise LookupError("broken on purpose")

    run = start_run(agent)
    raw = json.dumps(step(1)).encode()
    monkeypatch.setattr(at_once, "read_step", fail)
    with open_line(live) as line:
        line.send(build_head(f"/runs/{run}/steps", robo.key, len(raw)) + raw)
        # There it is read by what was not broken.
        assert line.hear().status == 201


def test_nobody_is_answered_who_has_gone(
    agent: httpx.Client, robo: Robot, live: Live
) -> None:
    run = start_run(agent)
    raw = json.dumps(step(1)).encode()
    head = build_head(f"/runs/{run}/steps", robo.key, len(raw))
    with open_line(live) as line:
        line.send(head + raw[:-1])  # and hang up
    with open_line(live) as line:
        line.send(head + raw)
    with open_line(live) as line:
        line.send(head + raw)
        assert line.hear().status == 201


@each_row(
    ("body", "more", "status"),
    [
        (b"{", {}, 400),
        (b'{"number":1,"tokens":1,"tool_calls":0,"x":1}', {}, 422),
        (b"number=1", {"Content_Type": "text/plain"}, 415),
        (b"x", {"Content_Encoding": "gzip"}, 415),
        (STEP, {"Idempotency_Key": "k" * 256}, 400),
        (STEP, {"Host": "evil.invalid"}, 400),
        (STEP, {"Authorization": "Bearer crk_x"}, 401),
        (STEP + b" " * 20_000, {}, 201),
    ],
)
def test_what_is_wrong_goes_the_usual_way(
    agent: httpx.Client,
    robo: Robot,
    live: Live,
    taken: list[bool],
    body: bytes,
    more: dict[str, str],
    status: int,
) -> None:
    run = start_run(agent)
    with open_line(live) as line:
        line.send(build_head(f"/runs/{run}/steps", robo.key, len(body), **more) + body)
        heard = line.hear()
    assert heard.status == status
    assert True not in taken


def test_a_body_is_asked_for_where_the_agent_waits_for_that(
    agent: httpx.Client, robo: Robot, live: Live, taken: list[bool]
) -> None:
    run = start_run(agent)
    raw = json.dumps(step(1)).encode()
    path = f"/runs/{run}/steps"
    with open_line(live) as line:
        line.send(build_head(path, robo.key, len(raw), Expect="100-continue"))
        assert line._file.readline().split()[1] == b"100"
        assert line._file.readline() == b"\r\n"
        line.send(raw)
        assert line.hear().status == 201
    assert taken == []
