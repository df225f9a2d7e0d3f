"""Heads that a connection sends again and again, and requests that begin with one.

An agent on a kept connection sends the same head with step after step; only the length of
the body changes. What the parser has read once, and the guard has let in, means the same
the next time: to read it again costs as much as all the rest of a step (bench steps).
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from uvicorn.protocols.http.httptools_impl import (
    HttpToolsProtocol,
    RequestResponseCycle,
)

if TYPE_CHECKING:
    from config.fastpath.asgi import Scope

    # It needs the apps, which are not loaded yet.
    from config.fastpath.at_once import Waiting

# So many are known of one connection: an agent may work on a few runs.
LIMIT = 4
# Longer ones are read anew.
LONGEST = 8_192
_END = b"\r\n\r\n"
_DIGITS = 4
_LENGTH = re.compile(rb"\r\ncontent-length: ([1-9][0-9]{0,3})(?=\r\n)", re.IGNORECASE)


class KnownHead(NamedTuple):
    """The bytes around the digits of its Content-Length, and what they were read as."""

    before: bytes
    behind: bytes
    url: bytes
    waiting: Waiting


class Place(NamedTuple):
    """Where the body of a request begins, and where it ends."""

    head: KnownHead
    start: int
    end: int


def build_known_head(
    data: bytes, size: int, *, url: bytes, waiting: Waiting
) -> KnownHead | None:
    """Of a request that begins with `data` and of whose bytes `size` were its head; None
    where anything is unusual."""
    scope = waiting.scope
    head = data[: data.find(_END) + len(_END)]
    lengths = [value for name, value in scope["headers"] if name == b"content-length"]
    found = _LENGTH.findall(head)
    if (
        len(head) != size
        or size > LONGEST
        or head.count(b"\n") != head.count(b"\r\n")
        or scope["http_version"] != "1.1"
        or len(lengths) != 1
        or lengths != found
    ):
        return None
    place = _LENGTH.search(head)
    assert place is not None
    # What answers the request may write into its scope.
    kept = waiting._replace(scope=dict(scope))
    return KnownHead(head[: place.start(1)], head[place.end(1) :], url, kept)


def add_head(heads: Sequence[KnownHead], newest: KnownHead) -> Sequence[KnownHead]:
    """The newest first; it takes the place of one with the same bytes."""
    others = [head for head in heads if head[:2] != newest[:2]]
    return (newest, *others[: LIMIT - 1])


def find_body(heads: Sequence[KnownHead], data: bytes) -> Place | None:
    """None unless `data` begins with a head that is known, up to its last byte."""
    for head in heads:
        before = head.before
        if data.startswith(before):
            first = len(before)
            last = data.find(b"\r", first, first + _DIGITS + 1)
            digits = data[first:last]
            if last < 0 or not digits.isdigit() or digits.startswith(b"0"):
                continue
            if data.startswith(head.behind, last):
                start = last + len(head.behind)
                return Place(head, start, start + int(digits))
    return None


class KnownCycle(RequestResponseCycle):
    """A request whose head is known. What only a task needs is made when it gets one."""

    disconnected = False
    keep_alive = True
    response_started = False
    response_complete = False
    # It is set when the connection is lost, and nobody waits for it before `prepare`.
    message_event = asyncio.Event()

    def __init__(self, place: Place, data: bytes) -> None:
        self.waiting = place.head.waiting
        self.scope = self.waiting.scope  # type: ignore[assignment]
        self.end = place.end
        # As far as it has come, its head included.
        self.data = data
        self._start = place.start

    @property
    def raw(self) -> bytes:
        return self.data[self._start :]

    def prepare(self, protocol: HttpToolsProtocol) -> None:
        """Make it what the parser would have made of the same bytes."""
        super().__init__(
            scope=self._build_scope(protocol),  # type: ignore[arg-type]
            transport=protocol.transport,
            flow=protocol.flow,
            logger=protocol.logger,
            access_logger=protocol.access_logger,
            access_log=protocol.access_log,
            default_headers=protocol.server_state.default_headers,
            message_event=asyncio.Event(),
            expect_100_continue=False,
            keep_alive=self.keep_alive,
            on_response=protocol.on_response_complete,
        )
        self.body += self.raw
        self.more_body = False
        self.message_event.set()

    def _build_scope(self, protocol: HttpToolsProtocol) -> Scope:
        length = b"%d" % (self.end - self._start)
        headers = [
            (name, length if name == b"content-length" else value)
            for name, value in self.scope["headers"]
        ]
        return {**self.scope, "headers": headers, "state": protocol.app_state.copy()}
