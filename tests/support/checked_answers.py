"""A server in the tests checks its own answers: whoever asked, and by whichever front.

A fault is kept until the test ends, and then fails it (`conftest.documented_answers`).
"""

from __future__ import annotations

import gzip
from typing import cast

from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from common.responses import Reply
from config.fastpath.asgi import (
    App,
    Message,
    Receive,
    Scope,
    Send,
    build_reply_messages,
)
from config.server.http_protocol import TimedProtocol
from tests.support.document import TEXT_TYPES, check_parts

_faults: list[str] = []


def take_faults() -> list[str]:
    """The faults since this was last asked, over all servers."""
    found = _faults[:]
    _faults.clear()
    return found


def check_answers(application: App) -> App:
    """The application, with every HTTP answer checked before its last byte is sent."""

    async def checked(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await application(scope, receive, send)
            return
        answer = _Answer(scope)

        async def send_checked(message: Message) -> None:
            answer.add(message)
            await send(message)

        await application(scope, receive, send_checked)

    return checked


class CheckedProtocol(TimedProtocol):
    """The same for answers that no task has sent."""

    def _note_server(self) -> None:
        """Leave the port alone: one process of tests has many servers."""

    def _send_answer(
        self,
        cycle: RequestResponseCycle,
        answer: Reply | tuple[Message, Message] | None,
    ) -> None:
        messages = build_reply_messages(answer) if isinstance(answer, Reply) else answer
        checked = _Answer(cast("Scope", cycle.scope))
        for message in messages or ():
            checked.add(message)
        super()._send_answer(cycle, answer)


class _Answer:
    def __init__(self, scope: Scope) -> None:
        self._method: str = scope["method"]
        self._path: str = scope["path"]
        self._status = 0
        self._kind = ""
        self._body = b""
        self._is_gzip = False

    def add(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = {name.lower(): value for name, value in message["headers"]}
            self._status = message["status"]
            self._kind = headers.get(b"content-type", b"").decode("latin-1")
            self._is_gzip = headers.get(b"content-encoding") == b"gzip"
            if not self._is_read:
                self._check()  # a stream may never end
        elif message["type"] == "http.response.body" and self._is_read:
            self._body += message.get("body", b"")
            if not message.get("more_body"):
                self._check()

    @property
    def _is_read(self) -> bool:
        media_type = self._kind.partition(";")[0]
        return not media_type or media_type in TEXT_TYPES

    def _read_body(self) -> bytes:
        return gzip.decompress(self._body) if self._is_gzip else self._body

    def _check(self) -> None:
        parts = self._method, self._path, self._status, self._kind
        try:
            check_parts(*parts, self._read_body)
        except (AssertionError, ValueError) as fault:
            _faults.append(f"{self._method} {self._path}: {fault}")
