"""Bodies that were refused before they were read: answer first, then discard the rest.

To close a connection with unread bytes makes the kernel reset it, and a reset destroys
the answer in the buffer of a client that sends everything before it reads. The host of a
hook takes that for leave to go on. So the answer is sent at once, the rest of the body is
read and thrown away within limits, and only then the response ends.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

from django.conf import settings

from config.fastpath.asgi import App, Message, Receive, Scope, Send, get_header

# A caller that shows no key is worth less of our time than one that does, unless it is
# a hook: whatever its host sends, it has to hear the answer.
DISCARD_BYTES = 128 * 1_048_576
STRANGER_BYTES = 16 * 1_048_576
SILENCE_SECONDS = 5.0
CLOSE = (b"connection", b"close")
_HOOKS = "/api/v1/hooks/"


class DiscardUnread:
    """Before everything else, so that every answer is made by what stands behind it."""

    def __init__(self, inner: App) -> None:
        self.inner = inner

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and _has_body(scope):
            exchange = Exchange(scope, receive, send)
            receive, send = exchange.receive, exchange.send
        await self.inner(scope, receive, send)


class Exchange:
    """One request with a body, and its answer."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._scope = scope
        self._receive = receive
        self._send = send
        self._ended = False
        self._status = 0
        self._began = asyncio.get_running_loop().time()

    async def receive(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.disconnect" or not message.get("more_body", False):
            self._ended = True
        return message

    async def send(self, message: Message) -> None:
        if self._ended:
            await self._send(message)
        elif message["type"] == "http.response.start":
            self._status = message["status"]
            headers = [*message.get("headers", ())]
            if CLOSE not in headers:
                headers.append(CLOSE)
            await self._send({**message, "headers": headers})
        elif message.get("more_body", False):
            await self._send(message)
        else:
            # Whole for the client by its length, though not over for the server.
            await self._send({**message, "more_body": True})
            await self._discard()
            await self._send({"type": "http.response.body", "body": b""})

    async def _discard(self) -> None:
        loop = asyncio.get_running_loop()
        until = self._began + settings.BODY_TIMEOUT_S
        until = max(until, loop.time() + SILENCE_SECONDS)
        left = self._get_allowance()
        with suppress(TimeoutError):
            while not self._ended and left > 0:
                silent = loop.time() + SILENCE_SECONDS
                async with asyncio.timeout_at(min(until, silent)):
                    left -= len((await self.receive()).get("body", b""))

    def _get_allowance(self) -> int:
        path: str = self._scope["path"]
        known = path.startswith("/api/") and self._status != 401
        return DISCARD_BYTES if known or path.startswith(_HOOKS) else STRANGER_BYTES


def _has_body(scope: Scope) -> bool:
    length = get_header(scope, b"content-length")
    return (
        length not in {None, "0"} or get_header(scope, b"transfer-encoding") is not None
    )
