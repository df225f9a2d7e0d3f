"""Requests as bytes on a socket: what no well-behaved client would send."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from config.server import connections
from config.server.http_protocol import TimedProtocol
from tests.support.live import Live
from tests.support.waiting import until


@dataclass(frozen=True, slots=True, kw_only=True)
class RawAnswer:
    """What came back, and how much of the body could be sent until then."""

    status: int
    headers: dict[str, str]
    body: bytes
    sent: int
    closed: bool

    def json(self) -> Any:
        return json.loads(self.body)


def head(live: Live, method: str, path: str, *headers: str) -> bytes:
    host = urlsplit(live.url).netloc
    lines = [f"{method} {path} HTTP/1.1", f"Host: {host}", *headers, "", ""]
    return "\r\n".join(lines).encode("latin-1")


def get_address(live: Live) -> tuple[str, int]:
    url = urlsplit(live.url)
    return url.hostname or "", url.port or 80


def exchange(live: Live, first: bytes, more: Iterable[bytes] = ()) -> RawAnswer:
    """Send the head, then as much of the rest as is taken, then read to the end."""
    sent = 0
    with socket.create_connection(get_address(live), timeout=60) as link:
        link.sendall(first)
        try:
            for piece in more:
                link.sendall(piece)
                sent += len(piece)
        except (BrokenPipeError, ConnectionResetError):
            pass  # the server has heard enough
        return read_answer(link, sent)


def read_answer(link: socket.socket, sent: int = 0) -> RawAnswer:
    file = link.makefile("rb")
    status = int(file.readline().split()[1])
    headers: dict[str, str] = {}
    while (line := file.readline().decode("latin-1").strip()) != "":
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    length = headers.get("content-length")
    body = file.read(int(length)) if length is not None else b""
    # What it promises is waited for, however slow the machine.
    link.settimeout(60 if headers.get("connection") == "close" else 0.5)
    try:
        closed = file.read(1) == b""
    except ConnectionResetError:
        closed = True
    except TimeoutError:
        closed = False
    return RawAnswer(
        status=status, headers=headers, body=body, sent=sent, closed=closed
    )


def list_ends(address: tuple[str, int]) -> list[TimedProtocol]:
    """The ends that servers in this process have of the connection from an address."""
    return [
        one
        for registry in connections._connections.list_all()
        for one in [*registry._group_of]
        if isinstance(one, TimedProtocol) and one.client == address
    ]


def find_end(address: tuple[str, int]) -> TimedProtocol:
    """The same, once it has been accepted."""
    until(lambda: bool(list_ends(address)))
    (found,) = list_ends(address)
    return found


def look_at(end: TimedProtocol, *, later: float) -> int:
    """Have the server look at it as if it were so many seconds later; returns how much
    the client has not taken by then."""

    async def look() -> int:
        unsent = end.transport.get_write_buffer_size()
        end.check(end.loop.time() + later)
        return unsent

    return asyncio.run_coroutine_threadsafe(look(), end.loop).result(timeout=60)
