"""One connection in each of its phases: when it is closed, and what it is told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from types import SimpleNamespace
from typing import Any, cast

import pytest
import uvicorn
from django.test.utils import override_settings
from uvicorn.server import ServerState

from config.fastpath.asgi import OVER_LIMIT, TIMED, Receive, Scope, Send
from config.server import http_protocol
from config.server.connections import Connections
from config.server.http_protocol import Phase, TimedProtocol
from tests.support.rows import each_row

pytestmark = pytest.mark.once("judges connections, not what is stored")
HOOK = "/api/v1/hooks/claude-code/PreToolUse"
WHOLE = b"GET /x HTTP/1.1\r\nHost: h\r\n\r\n"


def post(path: str) -> bytes:
    return f"POST {path} HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\n{{".encode()


class Transport:
    """A transport that remembers what was done to it."""

    def __init__(self) -> None:
        self.written = b""
        self.closed = self.aborted = False
        self.unsent = 0
        self.protocol: object = None

    def write(self, data: bytes) -> None:
        self.written += data

    def close(self) -> None:
        self.closed = True

    def abort(self) -> None:
        self.aborted = True

    def is_closing(self) -> bool:
        return self.closed

    def get_protocol(self) -> object:
        return self.protocol

    def get_write_buffer_size(self) -> int:
        return self.unsent

    def get_extra_info(self, name: str) -> object:
        return ("192.0.2.1", 4000) if name == "peername" else None

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...


class Others:
    """The registry, as far as a connection speaks with it."""

    welcome = True

    def __init__(self) -> None:
        self.waiting: bool | None = None
        self.removed = False

    def add(self, _connection: object, client: tuple[str, int]) -> bool:
        assert client[0] == "192.0.2.1"
        return self.welcome

    def remove(self, _connection: object) -> None:
        self.removed = True

    def set_waiting(self, _connection: object, waiting: bool) -> None:
        self.waiting = waiting


class Line:
    """A connection with its transport, its registry, and the scopes that it made."""

    def __init__(self, *, welcome: bool = True, pauses: bool = False) -> None:
        self.scopes: list[Scope] = []
        self.pauses = pauses  # in the middle of its answer
        self.may_answer = asyncio.Event()
        self.others = Others()
        self.others.welcome = welcome
        config = uvicorn.Config(
            self._answer, ws="none", log_config=None, interface="asgi3"
        )
        self.protocol = TimedProtocol(config, ServerState(), {})
        self.transport = Transport()
        self.transport.protocol = self.protocol
        with self._registry():
            self.protocol.connection_made(cast(Any, self.transport))
        self.began = self.protocol.loop.time()

    @contextmanager
    def _registry(self) -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(http_protocol, "get_connections", lambda: self.others)
            yield

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.scopes.append(scope)
        await self.may_answer.wait()
        self.may_answer.clear()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        if self.pauses:
            await send({"type": "http.response.body", "body": b"a", "more_body": True})
            await self.may_answer.wait()
        await send({"type": "http.response.body", "body": b"done"})

    def take(self, data: bytes) -> Line:
        self.protocol.data_received(data)
        return self

    def check_after(self, seconds: float) -> Line:
        self.protocol.check(self.protocol._since + seconds)
        return self

    @property
    def said(self) -> str:
        return self.transport.written.decode()


@asynccontextmanager
async def hurry() -> AsyncIterator[None]:
    with override_settings(HEAD_TIMEOUT_S=10, BODY_TIMEOUT_S=30):
        yield
    for task in asyncio.all_tasks() - {asyncio.current_task()}:
        task.cancel()


def test_how_long_whom_is_waited_for() -> None:
    assert http_protocol.GRACE_SECONDS == 5.0
    assert http_protocol.STALLED_SECONDS == 60.0
    assert http_protocol.EVICTED_SECONDS == 5.0
    assert http_protocol.SOCKET_CLOSING_SECONDS == 1.0


async def test_who_says_nothing_is_closed_without_a_word() -> None:
    async with hurry():
        line = Line()
        assert not line.check_after(9.9).transport.closed
        assert line.check_after(10.1).transport.closed
        assert line.said == ""


async def test_one_that_was_answered_is_kept_as_long_as_uvicorn_keeps_it() -> None:
    async with hurry():
        line = Line()
        line.protocol.timeout_keep_alive = 75
        assert not line.check_after(74.9).transport.closed
        assert line.check_after(75.1).transport.closed


async def test_half_a_head_is_told_408_in_time() -> None:
    async with hurry():
        line = Line().take(b"GET /x HTTP/1.1\r\nHo")
        assert (line.protocol.phase, line.others.waiting) == (Phase.HEAD, True)
        since = line.protocol._since
        line.take(b"st: h\r\n")  # a byte now and then does not begin anew
        assert line.protocol._since == since
        assert not line.check_after(9.9).transport.closed
        assert line.check_after(10.1).transport.closed
        assert line.said.startswith("HTTP/1.1 408 Request Timeout\r\n")
        assert "\r\nretry-after: 2\r\n" in line.said
        assert "\r\nconnection: close\r\n" in line.said
        line.check_after(11.0)
        assert line.said.count("HTTP/1.1") == 1


async def test_half_a_body_is_told_408_after_the_applications_own_time() -> None:
    async with hurry():
        for path, status in (("/api/v1/runs", "408"), (HOOK + "?wait=1", "200 OK")):
            line = Line().take(post(path))
            assert (line.protocol.phase, line.others.waiting) == (Phase.BODY, True)
            assert not line.check_after(34.9).transport.closed
            assert line.check_after(35.1).transport.closed
            assert line.said.startswith(f"HTTP/1.1 {status}")
            assert ('"deny"' in line.said) == path.startswith(HOOK)
            assert line.protocol.cycle.disconnected  # the application answers no more


async def test_an_answer_may_take_as_long_as_it_likes() -> None:
    async with hurry():
        line = Line().take(WHOLE)
        await asyncio.sleep(0)
        assert (line.protocol.phase, line.others.waiting) == (Phase.ANSWER, False)
        assert not line.check_after(100_000).transport.closed
        line.may_answer.set()
        while line.protocol.phase is not Phase.IDLE:
            await asyncio.sleep(0)
        assert line.others.waiting is True
        assert line.said.startswith("HTTP/1.1 200")
        assert line.scopes[0][TIMED] is True
        assert line.scopes[0][OVER_LIMIT] is False
        line.protocol._unset_keepalive_if_required()


async def test_a_request_before_its_turn_is_not_waited_for() -> None:
    """The one before it is still being answered: nothing may be written in between."""
    async with hurry():
        line = Line().take(WHOLE).take(post("/late"))
        assert line.protocol.pipeline
        assert line.others.waiting is False
        assert not line.check_after(1_000).transport.closed
        line.protocol.evict()
        assert (line.said, line.transport.closed) == ("", True)


async def test_a_request_whose_turn_has_come_is_waited_for_from_then_on() -> None:
    async with hurry():
        line = Line().take(WHOLE).take(post("/late"))
        line.protocol._since -= 1_000  # the answer before it took long
        line.may_answer.set()
        while len(line.scopes) < 2:
            await asyncio.sleep(0)
        assert (line.protocol.phase, line.others.waiting) == (Phase.BODY, True)
        now = line.protocol.loop.time()
        closed = []
        for seconds in (34, 36):
            line.protocol.check(now + seconds)
            closed.append(line.transport.closed)
        assert closed == [False, True]
        assert line.said.count("HTTP/1.1 408") == 1


async def test_a_body_that_comes_after_its_answer_keeps_its_own_time() -> None:
    """It was refused by its head: the rest of it is still on its way."""
    async with hurry():
        line = Line().take(post("/x"))
        line.protocol._since -= 20
        since = line.protocol._since
        line.may_answer.set()
        while not line.protocol.cycle.response_complete:
            await asyncio.sleep(0)
        assert (line.protocol.phase, line.protocol._since) == (Phase.BODY, since)
        line.take(b"12345678")
        assert line.protocol.phase.value == "idle"
        assert line.others.waiting is True
        assert line.said.count("HTTP/1.1") == 1
        line.protocol._unset_keepalive_if_required()


async def test_a_body_that_never_comes_after_its_answer_keeps_nothing_open() -> None:
    """uvicorn's own timer is set with the answer, and is not set again."""
    async with hurry():
        line = Line().take(post("/x"))
        line.protocol._since -= 20
        line.may_answer.set()
        while not line.protocol.cycle.response_complete:
            await asyncio.sleep(0)
        assert line.protocol.phase is Phase.BODY
        line.protocol.timeout_keep_alive_handler()
        assert line.transport.closed
        line.protocol._unset_keepalive_if_required()


async def test_nothing_is_said_in_the_middle_of_an_answer() -> None:
    async with hurry():
        line = Line(pauses=True).take(post("/x"))
        line.may_answer.set()
        while b"a" not in line.transport.written.partition(b"\r\n\r\n")[2]:
            await asyncio.sleep(0)
        line.check_after(35.1)
        assert line.transport.closed
        assert line.said.count("HTTP/1.1") == 1


@each_row(
    ("sent", "words"),
    [
        (b"", ""),
        (b"GET /x HT", "HTTP/1.1 408"),
        (post("/x"), "HTTP/1.1 408"),
        (WHOLE, ""),
    ],
)
async def test_who_makes_room_is_told_where_something_can_be_said(
    sent: bytes, words: str
) -> None:
    async with hurry():
        line = Line()
        if sent:
            line.take(sent)
        line.protocol.evict()
        assert line.transport.closed
        assert line.said.startswith(words) if words else line.said == ""


async def test_one_too_many_is_marked_and_does_not_keep_its_connection() -> None:
    async with hurry():
        line = Line(welcome=False).take(WHOLE)
        await asyncio.sleep(0)
        assert line.scopes[0][OVER_LIMIT] is True
        assert line.protocol.cycle.keep_alive is False
        other = Line().take(WHOLE)
        assert other.protocol.cycle.keep_alive is True
        line.protocol.handle_websocket_upgrade()
        assert line.said.startswith("HTTP/1.1 503")
        assert line.transport.closed
        line.protocol.connection_lost(None)
        assert line.others.removed


async def test_who_takes_nothing_is_cut_off_and_who_takes_a_little_is_not() -> None:
    async with hurry():
        for evicted, patience in ((False, 60.0), (True, 5.0)):
            line = Line().take(WHOLE)
            protocol, transport = line.protocol, line.transport
            protocol._evicted = evicted
            transport.unsent = 500
            protocol.flow.write_paused = True
            now = protocol.loop.time()
            protocol.check(now)
            transport.unsent = 400
            protocol.check(now + patience)  # it took something
            protocol.check(now + 2 * patience - 0.1)
            assert not transport.aborted
            protocol.check(now + 2 * patience + 0.1)
            assert transport.aborted
        # While more is written nobody can tell what was taken.
        line = Line().take(WHOLE)
        line.transport.unsent = 500
        for seconds in (0, 1_000, 2_000):
            line.check_after(seconds)
        assert not line.transport.aborted


async def test_a_socket_is_left_alone_until_we_close_it() -> None:
    async with hurry():
        line = Line().take(WHOLE)
        socket = SimpleNamespace(close_timer=None)
        line.transport.protocol = socket
        for _ in range(3):
            line.check_after(100_000)
        seen = [(line.transport.aborted, line.others.removed)]
        socket.close_timer = object()
        for seconds in (0, 1.0, 1.1):
            line.check_after(seconds)
            seen.append((line.transport.aborted, line.others.removed))
        assert seen == [(False, False)] * 3 + [(True, False)]
        assert line.protocol.phase is Phase.IDLE
        line.transport.closed = True
        line.check_after(0)
        assert line.others.removed
        again = Line().take(WHOLE)
        again.transport.protocol = socket
        again.protocol.evict()
        assert again.transport.aborted


async def test_the_registry_keeps_a_connection_until_it_is_lost() -> None:
    registry = Connections()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(http_protocol, "get_connections", lambda: registry)
        config = uvicorn.Config(lambda: None, ws="none", log_config=None)
        protocol = TimedProtocol(config, ServerState(), {})
        transport = Transport()
        transport.protocol = protocol
        protocol.connection_made(cast(Any, transport))
    assert registry._all.members == {protocol}
    protocol.connection_lost(None)
    assert registry._all.members == set()
