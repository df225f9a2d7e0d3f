"""Receivers of webhooks: a real HTTP(S) server whose paths say how it behaves."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from ssl import SSLContext
from typing import Any

from standardwebhooks import Webhook

CHUNK = b"x" * 65_536


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrived:
    """One request, byte for byte."""

    path: str
    headers: dict[str, str]
    body: bytes
    version: str = ""

    def verified(self, secret: str) -> Any:
        """What a receiver makes of it, or WebhookVerificationError."""
        return Webhook(secret).verify(self.body, self.headers)


Behaviour = Callable[[Arrived, asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Receiver:
    """Answers 200 unless a path has a behaviour of its own."""

    host: str
    tls: bool = False
    port: int = 0
    arrived: list[Arrived] = field(default_factory=list)
    behaviours: dict[str, Behaviour] = field(default_factory=dict)
    sent_bytes: int = 0
    hung_up: threading.Event = field(default_factory=threading.Event)

    def url(self, path: str = "/", *, name: str | None = None) -> str:
        scheme = "https" if self.tls else "http"
        return f"{scheme}://{name or self.host}:{self.port}{path}"

    def at(self, path: str) -> list[Arrived]:
        return [each for each in self.arrived if each.path == path]

    async def serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        try:
            while True:
                arrived = await _receive(reader)
                self.arrived.append(arrived)
                await self.behaviours.get(arrived.path, ok)(arrived, writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            self.hung_up.set()
        finally:
            writer.close()


async def _receive(reader: asyncio.StreamReader) -> Arrived:
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    first, *lines = head.strip().split("\r\n")
    headers = {
        name.lower(): value for name, value in (line.split(": ", 1) for line in lines)
    }
    body = await reader.readexactly(int(headers["content-length"]))
    return Arrived(path=first.split()[1], headers=headers, body=body)


def answer(status: int, body: bytes = b"", **headers: str) -> Behaviour:
    lines = [f"HTTP/1.1 {status} Whatever", f"Content-Length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    message = "\r\n".join([*lines, "", ""]).encode() + body

    async def behave(_arrived: Arrived, writer: asyncio.StreamWriter) -> None:
        writer.write(message)
        await writer.drain()

    return behave


ok = answer(200, b"thanks")


async def hang(_arrived: Arrived, _writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(60)


async def drip(_arrived: Arrived, writer: asyncio.StreamWriter) -> None:
    """A good answer that never ends, one byte at a time."""
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
    while True:
        writer.write(b".")
        await writer.drain()
        await asyncio.sleep(0.05)


async def close(_arrived: Arrived, _writer: asyncio.StreamWriter) -> None:
    raise ConnectionError


def flood(receiver: Receiver) -> Behaviour:
    """A gigabyte, for whoever takes it."""

    async def behave(_arrived: Arrived, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n")
        while receiver.sent_bytes < 1_073_741_824:
            writer.write(CHUNK)
            await writer.drain()
            receiver.sent_bytes += len(CHUNK)

    return behave


@contextmanager
def receiving(
    host: str = "127.0.0.1", *, tls: SSLContext | None = None
) -> Iterator[Receiver]:
    """A receiver in a thread of its own, until the block ends."""
    receiver = Receiver(host=host, tls=tls is not None)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    async def start() -> asyncio.Server:
        return await asyncio.start_server(receiver.serve, host, 0, ssl=tls)

    async def end() -> None:
        server.close()
        rest = [
            each for each in asyncio.all_tasks() if each is not asyncio.current_task()
        ]
        for task in rest:
            task.cancel()
        await asyncio.gather(*rest, return_exceptions=True)

    server = asyncio.run_coroutine_threadsafe(start(), loop).result()
    receiver.port = server.sockets[0].getsockname()[1]
    try:
        yield receiver
    finally:
        asyncio.run_coroutine_threadsafe(end(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
