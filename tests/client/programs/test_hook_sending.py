"""One event of a host on its way: what is sent again, for how long, and what holds."""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from checkrail.hooks import sending
from checkrail.hooks.events import EVENTS
from checkrail.hooks.sending import HookRequest, NoAnswer, send_event

pytestmark = pytest.mark.once("judges what a host is told, not what is stored")

CALL = HookRequest(
    url="http://127.0.0.1:8000",
    key="crk_x",
    host="claude-code",
    event="PreToolUse",
    query={},
    body=b"{}",
    wait=570.0,
)
ONCE = {"Stop", "SubagentStop", "SessionEnd"}


@dataclass
class Reply:
    status: int = 200
    body: bytes = b"{}"
    headers: dict[str, str] = field(default_factory=lambda: {"Checkrail-Hook": "1"})
    # How long it takes, by the clock of the test.
    after: float = 0.0

    def read(self) -> bytes:
        return self.body


@dataclass
class Line:
    """Stands in for the network and the clock."""

    answers: list[Reply | Exception] = field(default_factory=list)
    last: Reply | Exception = field(default_factory=Reply)
    now: float = 1_000.0
    sent: list[tuple[Any, ...]] = field(default_factory=list)
    opened: list[tuple[str, int | None, float]] = field(default_factory=list)
    options: list[tuple[Any, ...]] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)
    closed: int = 0
    slept: list[float] = field(default_factory=list)
    refuses: bool = False

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    def monotonic(self) -> float:
        return self.now

    def make(self, host: str, port: int | None, *, timeout: float) -> Link:
        self.opened.append((host, port, timeout))
        return Link(self)


class Link:
    def __init__(self, line: Line) -> None:
        self._line = line
        self.sock = self

    def connect(self) -> None:
        if self._line.refuses:
            raise ConnectionRefusedError("refused")

    def setsockopt(self, *option: Any) -> None:
        self._line.options.append(option)

    def settimeout(self, seconds: float) -> None:
        self._line.waits.append(seconds)

    def request(self, *words: Any, **more: Any) -> None:
        self._line.sent.append((*words, more))

    def getresponse(self) -> Reply:
        line = self._line
        reply = line.answers.pop(0) if line.answers else line.last
        if isinstance(reply, Exception):
            raise reply
        line.now += reply.after
        return reply

    def close(self) -> None:
        self._line.closed += 1


@pytest.fixture
def line(monkeypatch: pytest.MonkeyPatch) -> Line:
    line = Line()
    monkeypatch.setattr(sending, "time", line)
    monkeypatch.setattr(http.client, "HTTPConnection", line.make)
    monkeypatch.setattr(http.client, "HTTPSConnection", fail_to_be_called)
    return line


def fail_to_be_called(*_: Any, **__: Any) -> None:
    raise AssertionError("the other kind of connection")


def cut() -> Exception:
    return ConnectionResetError("reset")


def trouble(slug: str) -> Reply:
    headers = {"Checkrail-Hook": "1", "Checkrail-Trouble": slug}
    return Reply(body=json.dumps({"held": slug}).encode(), headers=headers)


def test_an_event_is_sent_whole_and_its_connection_is_closed(line: Line) -> None:
    call = replace(
        CALL, url="http://h:81/below/", query={"policy": "a b"}, body=b'{"x":1}'
    )
    assert send_event(call) == {}
    assert line.sent == [
        (
            "POST",
            "/below/api/v1/hooks/claude-code/PreToolUse?policy=a+b&wait_s=570",
            {
                "body": b'{"x":1}',
                "headers": {
                    "Authorization": "Bearer crk_x",
                    "Content-Type": "application/json",
                },
            },
        )
    ]
    assert line.opened == [("h", 81, 5.0)]
    # A long silence is not taken for a dead line, and the answer may be a little late.
    assert line.options == [(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)]
    assert line.waits == [572.0]
    assert line.closed == 1


def test_a_short_time_is_short_everywhere(line: Line) -> None:
    send_event(replace(CALL, wait=0.4))
    assert line.opened[0][2] == 0.4
    assert line.sent[0][1].endswith("?wait_s=1")
    assert line.waits == [3.0]


def test_https_is_https(line: Line, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http.client, "HTTPSConnection", line.make)
    monkeypatch.setattr(http.client, "HTTPConnection", fail_to_be_called)
    send_event(replace(CALL, url="https://h"))
    assert line.opened == [("h", None, 5.0)]


def test_what_is_no_address_is_said_at_once(line: Line) -> None:
    for url in ("ftp://h", "h:8000", "http://"):
        with pytest.raises(NoAnswer, match="is no address"):
            send_event(replace(CALL, url=url))
    assert (line.opened, line.slept) == ([], [])


@pytest.mark.parametrize("event", sorted({*EVENTS["claude-code"], *EVENTS["codex"]}))
def test_what_may_have_been_heard_is_sent_again_only_where_it_does_no_harm(
    line: Line, event: str
) -> None:
    call = replace(CALL, event=event)
    again = event not in ONCE
    losses: list[Callable[[], Reply | Exception]] = [
        cut,
        lambda: http.client.BadStatusLine("x"),
        *(
            lambda status=status: Reply(status=status)
            for status in (408, 502, 503, 504)
        ),
    ]
    for loss in losses:
        line.answers, line.sent = [loss()], []
        if again:
            assert send_event(call) == {}
        else:
            with pytest.raises(NoAnswer, match=r"Is the server at http.* running\?"):
                send_event(call)
        assert len(line.sent) == 1 + again
    assert line.closed == (len(losses) * 2 if again else len(losses))
    # What the server never heard is sent again whatever it is.
    line.refuses, line.opened = True, []
    with pytest.raises(NoAnswer, match="cannot be reached: refused"):
        send_event(call)
    assert len(line.opened) > 2


def test_an_unreachable_server_is_tried_for_as_long_as_was_chosen(line: Line) -> None:
    line.refuses = True
    for outage, wait, longest in (
        (60.0, 570.0, 60.0),
        (5.0, 570.0, 5.0),
        (60.0, 9.0, 9.0),
    ):
        began = line.now
        with pytest.raises(NoAnswer):
            send_event(replace(CALL, outage=outage, wait=wait))
        assert longest - 0.5 <= line.now - began <= longest
    assert set(line.slept) == {0.25}
    assert line.closed == len(line.opened), "also one that did not come about is closed"


def test_a_server_that_has_held_us_is_believed_to_come_back(line: Line) -> None:
    for held, longest in ((2.0, 90.0), (1.9, 5.0)):
        began = line.now
        line.answers = [Reply(status=502, after=held)]
        line.last = cut()
        with pytest.raises(NoAnswer):
            send_event(replace(CALL, outage=5.0))
        assert line.now - began == pytest.approx(
            longest + (held if longest > 5 else 0), abs=0.5
        )


def test_the_time_that_is_left_shrinks_with_every_try(line: Line) -> None:
    line.answers = [Reply(status=502, after=100.0)]
    send_event(CALL)
    asked = [each[1].rpartition("=")[2] for each in line.sent]
    assert asked == ["570", "469"]
    assert line.waits == [572.0, pytest.approx(471.75)]


def test_trouble_that_passes_is_asked_about_again_and_holds_in_the_end(
    line: Line,
) -> None:
    for slug in ("unavailable", "rate-limited", "request-timeout"):
        line.answers, line.sent = [trouble(slug)], []
        assert send_event(CALL) == {}
        assert len(line.sent) == 2
    line.last = trouble("unavailable")
    began = line.now
    assert send_event(CALL) == {"held": "unavailable"}, "the answer itself holds"
    assert 59 <= line.now - began <= 60
    for call, slug in (
        (CALL, "internal"),
        (replace(CALL, event="Stop"), "unavailable"),
    ):
        line.sent, line.answers = [], [trouble(slug)]
        assert send_event(call) == {"held": slug}
        assert len(line.sent) == 1


def test_what_comes_from_somebody_else_is_no_leave(line: Line) -> None:
    wrong: list[tuple[Reply, str]] = [
        (Reply(status=401), "answered 401"),
        (Reply(status=302), "answered 302"),
        (Reply(status=204), "answered 204"),
        (Reply(headers={}), "no answer for a hook"),
        (Reply(body=b"[]"), "no answer for a hook"),
        (Reply(body=b"<html>"), "no answer for a hook"),
    ]
    for reply, words in wrong:
        line.answers, line.sent = [reply], []
        with pytest.raises(NoAnswer, match=words):
            send_event(CALL)
        assert len(line.sent) == 1


def test_a_server_that_says_nothing_is_not_asked_for_as_long_again(line: Line) -> None:
    line.answers = [TimeoutError()]
    with pytest.raises(NoAnswer, match="did not answer within 570 s"):
        send_event(CALL)
    assert (len(line.sent), line.closed) == (1, 1)
