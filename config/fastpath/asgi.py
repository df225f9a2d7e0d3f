"""ASGI types, the marks in a scope, headers, and whole answers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from typing import Any

from common.errors import DomainError
from config.fastpath.problems import MEDIA_TYPE, render_problem

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

# The headers by name, and the list that they were read from.
INDEX = "checkrail.headers"
# Set by our HTTP server: the connection is one too many.
OVER_LIMIT = "checkrail.over_limit"
# Set by our HTTP server on every request: it keeps deadlines.
TIMED = "checkrail.timed"


def get_headers(scope: Scope, name: bytes) -> list[str]:
    found = index_headers(scope).get(name)
    return [value.decode("latin-1") for value in found] if found else []


def get_header(scope: Scope, name: bytes) -> str | None:
    found = index_headers(scope).get(name)
    return found[0].decode("latin-1") if found else None


def index_headers(scope: Scope) -> Mapping[bytes, list[bytes]]:
    """All values by name, gathered once for a request: it is asked for a dozen of them."""
    headers = scope["headers"]
    known = scope.get(INDEX)
    # Whoever replaces the headers on the way replaces the list.
    if known is not None and known[0] is headers:
        index: dict[bytes, list[bytes]] = known[1]
        return index
    index = {}
    for name, value in headers:
        index.setdefault(name, []).append(value)
    scope[INDEX] = (headers, index)
    return index


async def send_json(
    send: Send,
    *,
    status: int,
    body: bytes,
    media_type: str = "application/json; charset=utf-8",
    headers: Iterable[tuple[str, str]] = (),
) -> None:
    raw = [
        (b"content-type", media_type.encode()),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),
        *((name.lower().encode(), value.encode()) for name, value in headers),
    ]
    await send({"type": "http.response.start", "status": status, "headers": raw})
    await send({"type": "http.response.body", "body": body})


async def send_problem(send: Send, error: DomainError) -> None:
    await send_json(
        send,
        status=error.status,
        body=render_problem(error),
        media_type=MEDIA_TYPE,
        headers=error.headers.items(),
    )
