"""Requests as bytes on a socket: what no well-behaved client would send."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from tests.support.live import Live


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


def exchange(live: Live, first: bytes, more: Iterable[bytes] = ()) -> RawAnswer:
    """Send the head, then as much of the rest as is taken, then read to the end."""
    url = urlsplit(live.url)
    assert url.hostname is not None
    sent = 0
    with socket.create_connection((url.hostname, url.port or 80), timeout=60) as link:
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
    link.settimeout(30 if headers.get("connection") == "close" else 0.5)
    try:
        closed = file.read(1) == b""
    except ConnectionResetError:
        closed = True
    except TimeoutError:
        closed = False
    return RawAnswer(
        status=status, headers=headers, body=body, sent=sent, closed=closed
    )
