"""ASGI types, the marks in a scope, headers, and whole answers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

from common.errors import DomainError
from config.fastpath.problems import MEDIA_TYPE, render_problem

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

# Set by our HTTP server: the connection is one too many.
OVER_LIMIT = "checkrail.over_limit"
# Set by our HTTP server on every request: it keeps deadlines.
TIMED = "checkrail.timed"


def get_headers(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name]


def get_header(scope: Scope, name: bytes) -> str | None:
    values = get_headers(scope, name)
    return values[0] if values else None


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
