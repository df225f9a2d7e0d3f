"""A connection whose steps a stand-in takes, with what was read, taken and written."""

from __future__ import annotations

import asyncio
from typing import Any, NamedTuple, cast

import pytest
import uvicorn
from uvicorn.server import ServerState

from common.responses import Reply
from config.fastpath.asgi import AT_ONCE, Receive, Scope, Send, get_header
from config.fastpath.at_once import Respond
from config.server import http_protocol
from config.server.http_protocol import TimedProtocol
from tests.config.server.test_phases import Others, Transport

HEAD = (
    b"POST /api/v1/runs/r1/steps HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n"
    b"Content-Type: application/json\r\n\r\n"
)
DATE = [(b"date", b"today"), (b"server", b"ours")]


def post(body: bytes, head: bytes = HEAD) -> bytes:
    return head % len(body) + body


class Waiting(NamedTuple):
    """What a head was let in with, as far as connections know it."""

    scope: Scope


class Taker:
    """Takes every step, unless it is told otherwise."""

    def __init__(self) -> None:
        self.admits = self.takes = True
        self.taken: list[tuple[bytes, Respond]] = []
        self.scopes: list[Scope] = []
        # Also what it did not take.
        self.offered: list[bytes] = []

    def admit(self, scope: Scope) -> Waiting | None:
        return Waiting(scope) if scope["path"].endswith("/steps") else None

    def admits_again(self, _waiting: Waiting) -> bool:
        return self.admits

    def take(self, waiting: Waiting, raw: bytes, respond: Respond) -> bool:
        self.offered.append(raw)
        if self.takes:
            assert get_header(waiting.scope, b"host") == "h"
            self.taken.append((raw, respond))
            self.scopes.append(waiting.scope)
        return self.takes


class Line:
    """`read` counts the requests that the parser has begun, `asked` are those that the
    application got, with their bodies."""

    def __init__(self, *, welcome: bool = True, **config: Any) -> None:
        self.read = 0
        self.asked: list[tuple[Scope, bytes]] = []
        self.taker = Taker()
        self.others = Others()
        self.others.welcome = welcome
        self.transport = Transport()
        state = ServerState()
        state.default_headers = DATE
        given = uvicorn.Config(
            self._answer, ws="none", log_config=None, interface="asgi3", **config
        )
        self.protocol = self._build(given, state)
        self.transport.protocol = self.protocol
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(http_protocol, "get_connections", lambda: self.others)
            self.protocol.connection_made(cast(Any, self.transport))

    def _build(self, config: uvicorn.Config, state: ServerState) -> TimedProtocol:
        line = self

        class Counting(TimedProtocol):
            def on_message_begin(self) -> None:
                line.read += 1
                super().on_message_begin()

        return Counting(config, state, {AT_ONCE: self.taker})

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        message = await receive()
        assert not message["more_body"]
        self.asked.append((scope, message["body"]))
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"asked"})

    @property
    def taken(self) -> list[bytes]:
        return [raw for raw, _ in self.taker.taken]

    def send(self, *pieces: bytes) -> Line:
        for piece in pieces:
            self.protocol.data_received(piece)
        return self

    def answer(self, body: str = "{}", *, status: int = 201) -> bytes:
        """Answer the step that was taken last: what is written then."""
        before = len(self.transport.written)
        self.taker.taken[-1][1](Reply(status=status, body=body))
        return self.transport.written[before:]

    def learn(self, body: bytes = b"12345", head: bytes = HEAD) -> Line:
        """One request that the parser reads, from its first byte to its answer."""
        self.send(post(body, head)).answer()
        return self

    async def rest(self) -> None:
        """Until no task is left that it has started."""
        while self.protocol.tasks:
            await asyncio.sleep(0)

    def end(self) -> None:
        self.protocol._unset_keepalive_if_required()
