"""The parts of the server, each by itself: files, rests of bodies, refusals, the registry."""

from __future__ import annotations

import asyncio
import resource
from types import SimpleNamespace
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.test.utils import override_settings

from common.errors import RequestTimeout
from config.fastpath.asgi import Message, Receive, Scope, Send, send_json
from config.server import connections, unread
from config.server.connections import CHECKED_AT_ONCE, Connections
from config.server.refusals import build_refusal
from config.server.unread import CLOSE, DiscardUnread
from tests.config.server.test_connection_limits import Caller, add
from tests.support.rows import each_row

pytestmark = pytest.mark.once("judges requests and answers, not what is stored")
MIB = 1_048_576


class Files:
    """How many files the kernel lets this process open."""

    def __init__(self, soft: int, hard: int) -> None:
        self.soft, self.hard = soft, hard

    def get(self, _which: int) -> tuple[int, int]:
        return self.soft, self.hard

    def set(self, _which: int, limits: tuple[int, int]) -> None:
        self.soft, self.hard = limits


UNLIMITED = resource.RLIM_INFINITY


@each_row(
    ("soft", "hard", "room", "raised"),
    [
        (UNLIMITED, UNLIMITED, 1_000, UNLIMITED),
        (1_256, 1_256, 1_000, 1_256),
        (5_000, 9_000, 1_000, 5_000),
        (256, UNLIMITED, 1_000, 1_256),
        (256, 5_000, 1_000, 1_256),
        (256, 756, 500, 756),
        (100, 100, 16, 100),
    ],
)
async def test_as_many_connections_as_files_beside_those_of_our_own(
    soft: int, hard: int, room: int, raised: int
) -> None:
    files = Files(soft, hard)
    with (
        pytest.MonkeyPatch.context() as patch,
        override_settings(CONNECTIONS=1_000, ADDRESS_CONNECTIONS=5_000),
    ):
        patch.setattr(resource, "getrlimit", files.get)
        patch.setattr(resource, "setrlimit", files.set)
        registry = Connections()
    assert (registry.limit, registry.address_limit) == (room, room // 2)
    assert (files.soft, files.hard) == (raised, hard)


@override_settings(CONNECTIONS=32, ADDRESS_CONNECTIONS=2, PROXIES=("10.1.0.0/16",))
async def test_the_limit_is_told_once_a_minute(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry = Connections()
    for _ in range(6):
        add(registry)
    assert caplog.text.count("The limit of 2 connections from 192.0.2.1 is") == 1
    monkeypatch.setattr(registry, "_warned", registry._loop.time() - 60)
    add(registry)
    assert caplog.text.count("is reached") == 2
    monkeypatch.setattr(registry, "_warned", registry._loop.time() - 60)
    registry.limit = 2
    add(registry, "10.1.0.9")
    assert "The limit of 2 connections is reached" in caplog.text


@override_settings(CONNECTIONS=32, ADDRESS_CONNECTIONS=2)
async def test_nothing_is_left_of_those_who_have_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connections, "CHECK_SECONDS", 0.01)
    registry = Connections()
    first, _ = add(registry)
    registry.remove(first)
    registry.remove(first)
    registry.set_waiting(first, True)  # too late: it counts no more
    registry.set_waiting(Caller(), True)
    assert registry._by_address == {}
    assert not registry._all.members
    assert not registry._all.waiting
    assert not registry._group_of
    async with asyncio.timeout(60):
        while registry._checking:
            await asyncio.sleep(0.01)
    # Who comes after a pause has deadlines too.
    second, _ = add(registry)
    async with asyncio.timeout(60):
        while second.checks < 2:
            await asyncio.sleep(0.01)


@override_settings(CONNECTIONS=32, ADDRESS_CONNECTIONS=9)
async def test_there_is_one_timer_as_long_as_somebody_is_there() -> None:
    registry = Connections()
    timers: list[float] = []

    def call_later(seconds: float, _work: object) -> None:
        timers.append(seconds)

    clock = SimpleNamespace(call_later=call_later, time=registry._loop.time)
    registry._loop = clock  # type: ignore[assignment]
    first, second = (add(registry)[0] for _ in range(2))
    assert timers == [0.5]
    registry._check()
    registry.remove(first)
    registry._check()
    assert len(timers) == 3
    registry.remove(second)
    registry._check()
    assert len(timers) == 3
    add(registry)
    assert len(timers) == 4


@override_settings(CONNECTIONS=32, ADDRESS_CONNECTIONS=3)
async def test_who_was_answered_waits_behind_those_who_wait_already() -> None:
    registry = Connections()
    first, second, third = (add(registry)[0] for _ in range(3))
    registry.set_waiting(first, False)
    registry.set_waiting(first, True)
    for evicted in (second, third, first):
        newest, welcome = add(registry)
        assert welcome
        assert evicted.expired
        registry.set_waiting(newest, False)
    assert add(registry)[1] is False


async def answer(scope: Scope, _receive: Receive, send: Send) -> None:
    """Without a look at the body."""
    await send_json(send, status=scope.get("answer", 413), body=b"{}")


def exchange(
    path: str,
    *headers: tuple[bytes, bytes],
    size: int = 0,
    piece: int = MIB,
    **more: Any,
) -> tuple[list[Message], int]:
    """What was sent, and how many bytes of the body were taken meanwhile."""
    taken = 0
    sent: list[Message] = []

    async def receive() -> Message:
        nonlocal taken
        taken += piece
        return {
            "type": "http.request",
            "body": b"x" * piece,
            "more_body": taken < size,
        }

    async def send(message: Message) -> None:
        sent.append(message)

    scope: Scope = {"type": "http", "path": path, "headers": [*headers], **more}
    async_to_sync(DiscardUnread(answer))(scope, receive, send)
    return sent, taken


LENGTH = (b"content-length", b"999")
CHUNKED = (b"transfer-encoding", b"chunked")


@each_row(
    ("path", "status", "most"),
    [
        ("/api/v1/runs", 413, 128),
        ("/api/v1/runs", 401, 16),
        ("/api/v1/hooks/x/y", 401, 128),
        ("/sign-in/", 413, 16),
        ("/p/x/", 200, 16),
    ],
)
def test_so_much_of_a_refused_body_is_thrown_away(
    path: str, status: int, most: int
) -> None:
    _, taken = exchange(path, LENGTH, size=500 * MIB, answer=status)
    assert taken == most * MIB
    _, taken = exchange(path, CHUNKED, size=5 * MIB, answer=status)
    assert taken == 5 * MIB


def test_the_answer_is_whole_before_the_rest_is_read_and_the_line_is_closed() -> None:
    sent, _ = exchange("/api/v1/runs", LENGTH, size=2 * MIB)
    start, body, end = sent
    assert start["headers"].count(CLOSE) == 1
    assert (body["body"], body["more_body"]) == (b"{}", True)
    assert (end["body"], end.get("more_body", False)) == (b"", False)


def test_an_answer_in_pieces_is_sent_whole_before_the_rest_is_read() -> None:
    happened: list[bytes] = []

    async def answer_slowly(_scope: Scope, _receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 413})
        await send({"type": "http.response.body", "body": b"a", "more_body": True})
        await send({"type": "http.response.body", "body": b"b"})

    async def receive() -> Message:
        happened.append(b"(read)")
        return {"type": "http.request", "body": b"x"}

    async def send(message: Message) -> None:
        happened.append(message.get("body", b"(head)"))

    scope: Scope = {"type": "http", "path": "/api/v1/x", "headers": [LENGTH]}
    async_to_sync(DiscardUnread(answer_slowly))(scope, receive, send)
    assert happened == [b"(head)", b"a", b"b", b"(read)", b""]


def test_a_request_without_a_body_is_left_alone() -> None:
    for headers in ((), ((b"content-length", b"0"),)):
        sent, taken = exchange("/api/v1/runs", *headers)
        assert (len(sent), taken) == (2, 0)
        assert CLOSE not in sent[0]["headers"]


def test_a_caller_that_sends_nothing_more_is_not_waited_for_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert unread.SILENCE_SECONDS == 5.0
    monkeypatch.setattr(unread, "SILENCE_SECONDS", 0.02)
    sent: list[Message] = []
    words: list[Message] = [{"type": "http.request", "body": b"x", "more_body": True}]

    async def receive() -> Message:
        if not words:
            await asyncio.sleep(60)
        return words.pop()

    async def send(message: Message) -> None:
        sent.append(message)

    scope: Scope = {"type": "http", "path": "/api/v1/x", "headers": [LENGTH]}

    async def scene() -> None:
        async with asyncio.timeout(25):  # the time for a whole body is thirty seconds
            await DiscardUnread(answer)(scope, receive, send)

    asyncio.run(scene())
    assert sent[-1] == {"type": "http.response.body", "body": b""}

    async def hang_up() -> Message:
        return {"type": "http.disconnect"}

    sent.clear()
    async_to_sync(DiscardUnread(answer))(scope, hang_up, send)
    assert len(sent) == 3


def test_what_was_read_to_its_end_changes_nothing() -> None:
    """Its connection is kept, and its answer goes out as it is."""
    sent: list[Message] = []

    async def read_all(_scope: Scope, receive: Receive, send: Send) -> None:
        assert (await receive())["body"] == b"x"
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"a", "more_body": True})
        await send({"type": "http.response.body"})

    async def receive() -> Message:
        return {"type": "http.request", "body": b"x"}

    async def send(message: Message) -> None:
        sent.append(message)

    scope: Scope = {"type": "http", "path": "/x", "headers": [LENGTH]}
    async_to_sync(DiscardUnread(read_all))(scope, receive, send)
    assert sent[0]["headers"] == []
    assert [len(sent), sent[-1]] == [3, {"type": "http.response.body"}]


def test_a_refusal_as_bytes_is_a_whole_answer() -> None:
    error = RequestTimeout("Too slow.", headers={"Retry-After": "2"})
    for path, kind in (
        ("/api/v1/runs", "application/problem+json"),
        ("/api/v1/hooks/codex/PreToolUse", "application/json; charset=utf-8"),
    ):
        head, _, body = build_refusal(error, path).partition(b"\r\n\r\n")
        first, *lines = head.decode().split("\r\n")
        headers = dict(line.split(": ", 1) for line in lines)
        hook = "hooks" in path
        assert first == ("HTTP/1.1 200 OK" if hook else "HTTP/1.1 408 Request Timeout")
        assert headers["content-type"] == kind
        assert int(headers["content-length"]) == len(body)
        assert (headers["cache-control"], headers["connection"]) == (
            *("no-store", "close"),
        )
        assert headers["x-content-type-options"] == "nosniff"
        assert headers.get("checkrail-trouble") == ("request-timeout" if hook else None)
        assert headers.get("retry-after") == (None if hook else "2")


@override_settings(CONNECTIONS=1_000, ADDRESS_CONNECTIONS=500)
async def test_many_are_checked_a_few_at_a_time_and_each_of_them_once() -> None:
    registry = Connections()
    count = 2 * CHECKED_AT_ONCE + 1
    several = [add(registry)[0] for _ in range(count)]
    registry._check()
    assert sum(each.checks for each in several) == CHECKED_AT_ONCE
    gone = next(each for each in several if not each.checks)
    registry.remove(gone)
    async with asyncio.timeout(60):
        while sum(each.checks for each in several) < count - 1:
            await asyncio.sleep(0)
    assert {each.checks for each in several if each is not gone} == {1}
    assert gone.checks == 0, "it is closed: nothing is asked of it any more"
