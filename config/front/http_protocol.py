"""HTTP connections with deadlines and a limit.

uvicorn waits for the head and the body of a request for ever, and accepts connections
until the process has no file handles left. This protocol class takes the place of its
own: `uvicorn --http config.front.http_protocol:TimedProtocol`.
"""

from __future__ import annotations

import asyncio
import json
from enum import Enum
from http import HTTPStatus

from django.conf import settings
from uvicorn.protocols.http.httptools_impl import (
    HttpToolsProtocol,
    RequestResponseCycle,
)

from config.front.connections import Connections, connections

# The application answers a slow body itself; this is for what it does not read.
GRACE_SECONDS = 5.0
# A client that takes nothing of its answer for so long is cut off.
STALLED_SECONDS = 60.0
CLOSING_SECONDS = 10.0
# In the scope of a request on a connection that is one too many.
OVER_LIMIT = "checkrail.over_limit"
# In the scope of every request that this class has read.
TIMED = "checkrail.timed"


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
    _stalled_since: float | None = None
    _closing_since: float | None = None

    def connection_made(  # type: ignore[override]
        self, transport: asyncio.Transport
    ) -> None:
        super().connection_made(transport)
        self._others = connections()
        self._since = self.loop.time()
        self.over_limit = not self._others.add(self, self.client)

    def connection_lost(self, exc: Exception | None) -> None:
        self._others.remove(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.phase is Phase.IDLE:
            self._enter(Phase.HEAD)
        super().data_received(data)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        marks = {TIMED: True, OVER_LIMIT: self.over_limit}
        self.scope.update(marks)  # type: ignore[typeddict-item]

    def on_headers_complete(self) -> None:
        super().on_headers_complete()
        self._enter(Phase.BODY)

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._enter(Phase.ANSWER if self._is_answering() else Phase.IDLE)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.phase is Phase.ANSWER and self.cycle.response_complete:
            self._enter(Phase.IDLE)
        elif self.phase is Phase.BODY:
            # Of a request that was sent before its turn, which has come now.
            self._since = self.loop.time()

    def handle_websocket_upgrade(self) -> None:
        if self.over_limit:
            self.transport.write(_problem(HTTPStatus.SERVICE_UNAVAILABLE))
            self.transport.close()
            return
        super().handle_websocket_upgrade()
        self._enter(Phase.ANSWER)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._stalled_since = self.loop.time()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._stalled_since = None

    def check(self, now: float) -> None:
        """Close what is overdue."""
        if self.transport.is_closing():
            self._check_closing(now)
        elif self._is_overdue(now):
            self.expire()
        elif _is_over(self._stalled_since, STALLED_SECONDS, now):
            self.transport.abort()

    def expire(self) -> None:
        """Close it, with 408 where a request was begun and nothing is answered yet."""
        started = self._is_answering() and self.cycle.response_started
        if self.phase is not Phase.IDLE and not started:
            self.transport.write(_problem(HTTPStatus.REQUEST_TIMEOUT))
        self.transport.close()

    def _enter(self, phase: Phase) -> None:
        self.phase = phase
        self._since = self.loop.time()
        self._others.set_waiting(self, phase is not Phase.ANSWER)

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

    def _check_closing(self, now: float) -> None:
        if self.transport.get_protocol() is not self:
            # It had become a socket, whose end this object is not told of.
            self._others.remove(self)
        elif self._closing_since is None:
            self._closing_since = now
        elif _is_over(self._closing_since, CLOSING_SECONDS, now):
            self.transport.abort()  # nobody takes what was written last


def _is_over(since: float | None, seconds: float, now: float) -> bool:
    return since is not None and now - since > seconds


_WORDS = {
    HTTPStatus.REQUEST_TIMEOUT: (
        "request-timeout",
        "The request did not arrive in time",
        "Send the whole request at once.",
    ),
    HTTPStatus.SERVICE_UNAVAILABLE: (
        "unavailable",
        "Not available just now",
        "There are too many connections.",
    ),
}


def _problem(status: HTTPStatus) -> bytes:
    slug, title, detail = _WORDS[status]
    problem = {
        "type": f"/problems/{slug}",
        "title": title,
        "status": status.value,
        "detail": detail,
    }
    body = json.dumps(problem, separators=(",", ":"))
    lines = [
        f"HTTP/1.1 {status.value} {status.phrase}",
        "content-type: application/problem+json",
        f"content-length: {len(body)}",
        "cache-control: no-store",
        "retry-after: 2",
        "connection: close",
    ]
    return "\r\n".join([*lines, "", body]).encode()
