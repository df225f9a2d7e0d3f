"""HTTP connections with deadlines and a limit.

uvicorn waits for the head and the body of a request for ever, and accepts connections
until the process has no file handles left. This protocol class takes the place of its
own: `uvicorn --http config.server.http_protocol:TimedProtocol`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, cast
from urllib.parse import unquote

from django.conf import settings
from uvicorn.protocols.http.httptools_impl import (
    HttpToolsProtocol,
    RequestResponseCycle,
)

from common.errors import RequestTimeout, Unavailable
from common.responses import Reply
from config.fastpath.asgi import (
    ARRIVED,
    AT_ONCE,
    OVER_LIMIT,
    TIMED,
    Message,
    Scope,
    Send,
    build_reply_messages,
    send_all,
)
from config.server.answers import sent_answers
from config.server.connections import Connections, get_connections
from config.server.known_heads import (
    KnownCycle,
    KnownHead,
    add_head,
    build_known_head,
    find_body,
)
from config.server.refusals import build_refusal
from config.server.replies import write_reply
from guidance.own_server import note_connection

if TYPE_CHECKING:
    from uvicorn._types import ASGI3Application

    # It needs the apps, which are not loaded yet.
    from config.fastpath.at_once import AtOnce, Waiting

# The application answers a slow body itself; this is for what it does not read.
GRACE_SECONDS = 5.0
# A client that takes nothing of its answer for so long is cut off.
STALLED_SECONDS = 60.0
# The same for one that had to make room for another.
EVICTED_SECONDS = 5.0
# A browser answers the closing of a WebSocket at once.
SOCKET_CLOSING_SECONDS = 1.0


async def _send_prepared(
    messages: tuple[Message, Message], _scope: object, _receive: object, send: Send
) -> None:
    await send_all(send, messages)


class Phase(Enum):
    """What a connection is at. Only an answer may take as long as it likes."""

    IDLE = "idle"
    HEAD = "head"
    BODY = "body"
    ANSWER = "answer"


class TimedProtocol(HttpToolsProtocol):
    """One connection."""

    phase = Phase.IDLE
    over_limit = False
    _others: Connections
    _since = 0.0
    _evicted = False
    _unsent = 0
    _taken_at = 0.0
    _at_once: AtOnce | None = None
    # A request that gets no task, if nothing is wrong with its body.
    _waiting: Waiting | None = None
    _known: Sequence[KnownHead] = ()
    # Whether no line is logged for each request.
    _is_quiet = True
    # The parser is in the middle of a request.
    _parsing = False
    # What the request that is parsed began with, and how many bytes came since then.
    _first = b""
    _size = 0
    # A request with a known head whose body is still on its way.
    _begun: KnownCycle | None = None
    # A request with a known head is parsed after all: it was not taken at once.
    _was_refused = False

    def connection_made(  # type: ignore[override]
        self, transport: asyncio.Transport
    ) -> None:
        super().connection_made(transport)
        self._at_once = self.app_state.get(AT_ONCE)
        self._note_server()
        logs = self.access_logger.isEnabledFor(logging.INFO)
        self._is_quiet = not (self.access_log and logs)
        self._others = get_connections()
        self._since = self._taken_at = self.loop.time()
        self.over_limit = not self._others.add(self, self.client)

    def _note_server(self) -> None:
        note_connection(self.server)

    def connection_lost(self, exc: Exception | None) -> None:
        self._others.remove(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        begun = self._begun
        if begun is not None:
            self._begun = None
            begun.data += data
            if self._read_known(begun):
                return
            data = begun.data
        elif self.phase is Phase.IDLE:
            if self._known and not self._parsing and self._begin_known(data):
                return
            self._enter(Phase.HEAD)
        if not self._parsing:
            self._first, self._size = data, 0
        self._size += len(data)
        super().data_received(data)

    def _begin_known(self, data: bytes) -> bool:
        """Whether a request with a known head begins here, and the parser gets none of it."""
        place = find_body(self._known, data)
        if place is None or self._at_once is None:
            return False
        if not self._at_once.admits_again(place.head.waiting):
            return False
        self.url = place.head.url
        self.cycle = cycle = KnownCycle(place, data)
        return self._read_known(cycle)

    def _read_known(self, cycle: KnownCycle) -> bool:
        """Take what has come of it by now; False: the parser gets all of it instead."""
        missing = cycle.end - len(cycle.data)
        if missing > 0:
            self._begun = cycle
            if self.phase is not Phase.BODY:
                self._enter(Phase.BODY)
            return True
        if missing == 0 and self._at_once is not None:
            respond = partial(self._send_answer, cycle)
            if self._at_once.take(cycle.waiting, cycle.raw, respond):
                self._enter(Phase.ANSWER)
                return True
            self._was_refused = True
        cycle.response_complete = True  # the parser makes another
        return False

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._parsing = True
        marks = {TIMED: True, OVER_LIMIT: self.over_limit}
        self.scope.update(marks)  # type: ignore[typeddict-item]

    def on_headers_complete(self) -> None:
        before = self.cycle
        super().on_headers_complete()
        if isinstance(before, KnownCycle) and not before.keep_alive:
            # The server was stopped while its body was on its way.
            self.cycle.keep_alive = False
        if self.over_limit and self.cycle is not None:
            # There may be room for its next request, on a connection of its own.
            self.cycle.keep_alive = False
        self._enter(Phase.BODY)

    def _start_asgi_task(
        self, cycle: RequestResponseCycle, app: ASGI3Application
    ) -> None:
        # Whoever waits to be asked for the body is asked by what reads it.
        reading = cycle.more_body and not cycle.waiting_for_100_continue
        refused, self._was_refused = self._was_refused, False
        if self._at_once is not None and app is self.app and reading and not refused:
            self._waiting = self._at_once.admit(cast("Scope", cycle.scope))
        if self._waiting is None:
            super()._start_asgi_task(cycle, app)

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._parsing = False
        cast("Scope", self.scope)[ARRIVED] = True
        if self._waiting is not None and self._at_once is not None:
            waiting, self._waiting = self._waiting, None
            raw = bytes(self.cycle.body)
            respond = partial(self._send_answer, self.cycle)
            if self._at_once.take(waiting, raw, respond):
                self._remember_head(waiting, self._size - len(raw))
            else:
                super()._start_asgi_task(self.cycle, self.app)
        self._first = b""
        self._enter(Phase.ANSWER if self._is_answering() else Phase.IDLE)

    def _remember_head(self, waiting: Waiting, size: int) -> None:
        if self.over_limit or self.limit_concurrency is not None:
            return
        if self._is_quiet and self.cycle.keep_alive:
            head = build_known_head(self._first, size, url=self.url, waiting=waiting)
            if head is not None:
                self._known = add_head(self._known, head)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.phase is Phase.ANSWER and self.cycle.response_complete:
            self._enter(Phase.IDLE)
        elif self.phase is Phase.BODY and self._is_answering():
            # Of a request that was sent before its turn, which has come now.
            self._enter(Phase.BODY)

    def handle_websocket_upgrade(self) -> None:
        if self.over_limit:
            error = Unavailable("There are too many connections.")
            self.transport.write(build_refusal(error, path=""))
            self.transport.close()
            return
        super().handle_websocket_upgrade()
        self._enter(Phase.ANSWER)

    def check(self, now: float) -> None:
        """Close what is overdue."""
        if self._is_upgraded():
            self._check_socket(now)
            return
        if not self.transport.is_closing() and self._is_overdue(now):
            self.expire()
        if self._is_stalled(now):
            self.transport.abort()

    def _send_answer(
        self,
        cycle: RequestResponseCycle,
        answer: Reply | tuple[Message, Message] | None,
    ) -> None:
        """Answer a request that has no task; where that has to wait, it gets one."""
        if cycle.disconnected:
            return
        paused = self.flow.write_paused
        if answer is not None:
            status = answer.status if isinstance(answer, Reply) else answer[0]["status"]
            sent_answers[status] += 1
        if isinstance(answer, Reply):
            if self._is_quiet and not paused and not answer.headers:
                self._write_reply(cycle, answer)
                return
            answer = build_reply_messages(answer)
        if isinstance(cycle, KnownCycle):
            cycle.prepare(self)
        app = self.app if answer is None else partial(_send_prepared, answer)
        if answer is None or paused:
            super()._start_asgi_task(cycle, app)
            return
        with suppress(StopIteration):  # it ends at once
            cycle.run_asgi(app).send(None)

    def _write_reply(self, cycle: RequestResponseCycle, reply: Reply) -> None:
        """As the cycle would, had it got the messages."""
        headers, keep_alive = self.server_state.default_headers, cycle.keep_alive
        self.transport.write(write_reply(reply, headers=headers, keep_alive=keep_alive))
        cycle.response_started = cycle.response_complete = True
        if not keep_alive:
            self.transport.close()
        if self.pipeline or self.timeout_keep_alive_task is None or not keep_alive:
            self.on_response_complete()
        else:
            self.server_state.total_requests += 1
            self._enter(Phase.IDLE)

    def timeout_keep_alive_handler(self) -> None:
        """Close it if nothing has come since the last answer. Behind known heads the timer
        goes on while there is an answer: to set it anew for each costs more (bench steps)."""
        idle = 0.0 if self._is_answering() else self.loop.time() - self._since
        if idle >= self.timeout_keep_alive:
            super().timeout_keep_alive_handler()
        elif not self.transport.is_closing():
            self.timeout_keep_alive_task = self.loop.call_later(
                self.timeout_keep_alive - idle, self.timeout_keep_alive_handler
            )

    def evict(self) -> None:
        """Close it to make room for another."""
        self._evicted = True
        if self._is_upgraded():
            self.transport.abort()
        else:
            self.expire()

    def expire(self) -> None:
        """Close it, and say why where a request was begun and nothing is answered yet."""
        if self._owes_answer():
            error = RequestTimeout(
                "Send the whole request at once.", headers={"Retry-After": "2"}
            )
            self.transport.write(build_refusal(error, self._read_path()))
            if self.phase is Phase.BODY:
                self.cycle.disconnected = True  # the application answers no more
        self.transport.close()

    def abort(self) -> None:
        self.transport.abort()

    def _enter(self, phase: Phase) -> None:
        self.phase = phase
        self._since = self.loop.time()
        # With a request before its turn, an earlier one is being answered.
        answering = phase is Phase.ANSWER or bool(self.pipeline)
        self._others.set_waiting(self, not answering)

    def _is_upgraded(self) -> bool:
        return self.transport.get_protocol() is not self

    def _check_socket(self, now: float) -> None:
        """Of a WebSocket, whose end this object is not told of."""
        if self.transport.is_closing():
            self._others.remove(self)
        elif getattr(self.transport.get_protocol(), "close_timer", None) is None:
            return  # it is open
        elif self.phase is Phase.ANSWER:
            self._enter(Phase.IDLE)  # closed by us: who does not answer that, waits
        elif now - self._since > SOCKET_CLOSING_SECONDS:
            self.transport.abort()

    def _is_answering(self) -> bool:
        cycle: RequestResponseCycle | None = self.cycle  # None before the first one
        return cycle is not None and not cycle.response_complete

    def _is_overdue(self, now: float) -> bool:
        waited = now - self._since
        match self.phase:
            case Phase.IDLE:
                # After an answer uvicorn's own timer is quicker, unless bytes came.
                return waited > max(settings.HEAD_TIMEOUT_S, self.timeout_keep_alive)
            case Phase.HEAD:
                return waited > settings.HEAD_TIMEOUT_S
            case Phase.BODY:
                # One that was sent before its turn is not read yet.
                patience = settings.BODY_TIMEOUT_S + GRACE_SECONDS
                return waited > patience and not self.pipeline
            case Phase.ANSWER:
                return False

    def _is_stalled(self, now: float) -> bool:
        """Whether the client has taken nothing for long of what is written for it."""
        unsent = self.transport.get_write_buffer_size()
        # While nothing is added, every change is something that the client took.
        settled = self.transport.is_closing() or self.flow.write_paused
        if not settled or unsent != self._unsent:
            self._unsent = unsent
            self._taken_at = now
        patience = EVICTED_SECONDS if self._evicted else STALLED_SECONDS
        return now - self._taken_at > patience

    def _owes_answer(self) -> bool:
        """Whether an answer to the request that is being read can be written here."""
        if self.transport.is_closing() or self.pipeline:
            return False
        if self.phase is Phase.BODY:
            return self._is_answering() and not self.cycle.response_started
        return self.phase is Phase.HEAD

    def _read_path(self) -> str:
        """Of the request that is being read, as far as it has come."""
        url: bytes = getattr(self, "url", b"")  # not there before the first one
        return unquote(url.partition(b"?")[0].decode("latin-1"))
