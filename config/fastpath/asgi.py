"""ASGI types, the marks in a scope, headers, and whole answers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from typing import Any

from common.errors import DomainError
from common.responses import Reply
from config.fastpath.problems import MEDIA_TYPE, render_problem

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

# The headers by name, and the list that they were read from.
INDEX = "checkrail.headers"
# Where the state of a process has what answers without a task.
AT_ONCE = "checkrail.at_once"
# Set by our HTTP server: the whole body has come.
ARRIVED = "checkrail.arrived"
# Set by our HTTP server: the connection is one too many.
OVER_LIMIT = "checkrail.over_limit"
# Set by our HTTP server on every request: it keeps deadlines.
TIMED = "checkrail.timed"


def get_headers(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin-1") for each, value in scope["headers"] if each == name]


def get_header(scope: Scope, name: bytes) -> str | None:
    """The first one of this name."""
    found = index_headers(scope).get(name)
    return None if found is None else found.decode("latin-1")


def index_headers(scope: Scope) -> Mapping[bytes, bytes]:
    """The first value of each name, gathered once for a request: it is asked for a dozen
    of them. It is shorter than the list where a name stands twice."""
    headers = scope["headers"]
    known = scope.get(INDEX)
    # Whoever replaces the headers on the way replaces the list.
    if known is not None and known[0] is headers:
        index: dict[bytes, bytes] = known[1]
        return index
    index = dict(headers)
    if len(index) < len(headers):
        index = dict(reversed(headers))
    scope[INDEX] = (headers, index)
    return index


def build_json_messages(
    *,
    status: int,
    body: bytes,
    media_type: str = "application/json; charset=utf-8",
    headers: Iterable[tuple[str, str]] = (),
) -> tuple[Message, Message]:
    """A whole answer, as it is sent."""
    raw = [
        (b"content-type", media_type.encode()),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),
        *((name.lower().encode(), value.encode()) for name, value in headers),
    ]
    return (
        {"type": "http.response.start", "status": status, "headers": raw},
        {"type": "http.response.body", "body": body},
    )


def build_reply_messages(reply: Reply) -> tuple[Message, Message]:
    return build_json_messages(
        status=reply.status, body=reply.body.encode(), headers=reply.headers.items()
    )


def build_problem_messages(error: DomainError) -> tuple[Message, Message]:
    return build_json_messages(
        status=error.status,
        body=render_problem(error),
        media_type=MEDIA_TYPE,
        headers=error.headers.items(),
    )


async def send_all(send: Send, messages: Iterable[Message]) -> None:
    for message in messages:
        await send(message)


async def send_json(
    send: Send, *, status: int, body: bytes, headers: Iterable[tuple[str, str]] = ()
) -> None:
    await send_all(send, build_json_messages(status=status, body=body, headers=headers))


async def send_problem(send: Send, error: DomainError) -> None:
    await send_all(send, build_problem_messages(error))
