"""One kept-alive HTTP/1.1 connection, as lean as it gets.

The client must cost little beside the server it measures: requests are ready-made
bytes, and of an answer only its status, its length and its body are looked at.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import NamedTuple, cast
from urllib.parse import urlsplit

_LENGTH = b"\r\ncontent-length: "
_HEAD_END = b"\r\n\r\n"


class Response(NamedTuple):
    status: int
    body: bytes


class Connection(asyncio.Protocol):
    """Sends one request at a time; `answered` is called when its answer is whole."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._answered: Callable[[Response], None] | None = None
        self._failed: Callable[[Exception], None] | None = None
        self._buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports are of their own class, with the same methods.
        self._transport = cast(asyncio.Transport, transport)

    def connection_lost(self, error: Exception | None) -> None:
        failed, self._failed = self._failed, None
        if failed is not None:
            failed(error or ConnectionError("The server closed the connection."))

    def data_received(self, data: bytes) -> None:
        if self._buffer:
            data = self._buffer + data
        head_end = data.find(_HEAD_END)
        if head_end < 0:
            self._buffer = data
            return
        head = data[: head_end + 2].lower()
        at = head.index(_LENGTH) + len(_LENGTH)
        start = head_end + len(_HEAD_END)
        if len(data) < start + int(head[at : head.index(b"\r", at)]):
            self._buffer = data
            return
        self._buffer = b""
        answered, self._answered, self._failed = self._answered, None, None
        assert answered is not None
        answered(Response(int(head[9:12]), data[start:]))

    def send(
        self,
        request: bytes,
        *,
        answered: Callable[[Response], None],
        failed: Callable[[Exception], None],
    ) -> None:
        assert self._transport is not None
        self._answered, self._failed = answered, failed
        self._transport.write(request)

    async def ask(self, request: bytes) -> Response:
        future = asyncio.get_running_loop().create_future()
        self.send(request, answered=future.set_result, failed=future.set_exception)
        answer: Response = await future
        return answer

    def close(self) -> None:
        self._failed = None
        if self._transport is not None:
            self._transport.close()


async def connect(url: str) -> Connection:
    address = urlsplit(url)
    assert address.hostname is not None
    assert address.port is not None
    _, line = await asyncio.get_running_loop().create_connection(
        Connection, address.hostname, address.port
    )
    return line


def build_request(
    method: str, path: str, *, url: str, secret: str | None = None, body: bytes = b""
) -> bytes:
    """The bytes of a request to the API."""
    head = [f"{method} /api/v1{path} HTTP/1.1", f"host: {urlsplit(url).netloc}"]
    if secret is not None:
        head.append(f"authorization: Bearer {secret}")
    if body:
        head += ["content-type: application/json", f"content-length: {len(body)}"]
    return "\r\n".join([*head, "", ""]).encode() + body


def build_post_head(path: str, *, url: str, secret: str) -> bytes:
    """The head of requests with JSON, `%d` in the place of the length of their bodies."""
    marked = build_request("POST", path, url=url, secret=secret, body=b"-")
    return marked[:-1].replace(b"%", b"%%").replace(b"length: 1\r", b"length: %d\r")
