"""Requests that wait for a person, each on a plain connection of its own.

httpx takes most of a millisecond to hand over an answer, and several where hundreds wait:
it looks at all connections of its pool each time. An agent that has waited for a person is
in a hurry then (bench waking). What comes is one short JSON text.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from ssl import SSLContext

from checkrail.transport.connection import Connection
from checkrail.transport.effects import NoResponse, Request
from checkrail.transport.plain_http import (
    Address,
    Received,
    find_address,
    read_response,
    write_get,
)
from checkrail.transport.responses import Response

# Servers close a silent connection after five seconds or more.
IDLE_SECONDS = 4.0


class Waits:
    """The connections to one server; each serves one request after the other."""

    def __init__(
        self,
        connection: Connection,
        *,
        address: Address,
        headers: Mapping[str, str],
        encryption: SSLContext | None,
    ) -> None:
        self._connection = connection
        self._address = address
        self._headers = headers
        self._encryption = encryption
        self._idle: list[_Line] = []

    async def send(self, request: Request) -> Response:
        """Raises NoResponse."""
        raw = write_get(self._address, request, self._headers)
        seconds = request.read_seconds or self._connection.read_timeout
        line = self._take_idle() or await self._connect()
        try:
            received = await line.ask(raw, seconds)
        except BaseException:
            line.close()
            raise
        if received.keeps_open:
            line.idle_since = line.loop.time()
            self._idle.append(line)
        else:
            line.close()
        return received.response

    def close(self) -> None:
        for line in self._idle:
            line.close()
        self._idle.clear()

    def _take_idle(self) -> _Line | None:
        loop = asyncio.get_running_loop()
        while self._idle:
            line = self._idle.pop()
            if line.loop is loop and line.is_fresh():
                return line
            line.close()
        return None

    async def _connect(self) -> _Line:
        address, loop = self._address, asyncio.get_running_loop()
        opening = loop.create_connection(
            lambda: _Line(loop), address.host, address.port, ssl=self._encryption
        )
        try:
            _, line = await asyncio.wait_for(opening, self._connection.connect_timeout)
        except (OSError, asyncio.TimeoutError) as error:
            raise NoResponse(str(error) or type(error).__name__) from error
        return line


class _Line(asyncio.Protocol):
    """One connection."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.idle_since = 0.0
        self._transport: asyncio.BaseTransport | None = None
        self._received = b""
        self._answer: asyncio.Future[Received] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def connection_lost(self, error: Exception | None) -> None:
        self._transport = None
        self._read(closed=True, words=str(error or "The connection was closed."))

    def data_received(self, data: bytes) -> None:
        self._received += data
        self._read(closed=False)

    def is_fresh(self) -> bool:
        """Whether it is open, and nothing came that nobody has asked for."""
        silent = self.loop.time() - self.idle_since
        is_open = self._transport is not None and not self._transport.is_closing()
        return is_open and not self._received and silent < IDLE_SECONDS

    async def ask(self, raw: bytes, seconds: float) -> Received:
        if self._transport is None:
            raise NoResponse("The connection was closed.")
        answer: asyncio.Future[Received] = self.loop.create_future()
        self._answer = answer
        late = self.loop.call_later(seconds, self._fail, "The answer is late.")
        self._transport.write(raw)  # type: ignore[attr-defined]
        try:
            return await answer
        finally:
            late.cancel()
            self._answer = None

    def close(self) -> None:
        if self._transport is not None and not self.loop.is_closed():
            self._transport.close()

    def _read(self, *, closed: bool, words: str = "") -> None:
        if self._answer is None or self._answer.done():
            return
        if closed and not self._received:
            self._fail(words)
            return
        try:
            received = read_response(self._received, closed=closed)
        except ValueError as error:
            self._fail(str(error))
            return
        if received is not None:
            self._received = b""
            self._answer.set_result(received)

    def _fail(self, words: str) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(NoResponse(words))


def open_waits(
    connection: Connection,
    *,
    headers: Mapping[str, str],
    encryption: SSLContext | None,
) -> Waits | None:
    """None where the way to the server is httpx's matter."""
    address = find_address(connection)
    if address is None or (address.is_encrypted and encryption is None):
        return None
    return Waits(
        connection,
        address=address,
        headers=headers,
        encryption=encryption if address.is_encrypted else None,
    )
