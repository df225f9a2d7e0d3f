"""A run's ledger as server-sent events: what is there, then whatever comes.

One read, then the hub, then one read again. Nothing is kept for a reader but the number
of the entry it was given last: a slow one is waited for, and one that comes back names
that number and goes on behind it.
"""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from django.db import DatabaseError, InterfaceError

from accounts.auth import Principal
from accounts.errors import Invalid, Unauthenticated
from ledger.hub import hub
from ledger.models import FINAL, Entry, Run
from ledger.reading import read
from ledger.selectors import ledger_line, run_visible
from reviews.access import Guest, Holder, Reader, readers_refused
from reviews.followers import Follower, followers

MEDIA_TYPE = "text/event-stream"
HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    # Proxies that gather answers before they pass them on are asked not to.
    "X-Accel-Buffering": "no",
}
QUERY = frozenset({"after"})
HEARTBEAT_SECONDS = 15.0
RETRY_MS = 2_000
# A page is some small entries or few large ones.
PAGE_BYTES = 262_144
STRIDE = 16

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Followed:
    """A run that may be followed by this reader, from behind this entry on."""

    run_id: int
    run_code: str
    reader: Reader
    after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """The browser session that a person came with."""

    user_id: int
    key: str
    auth_hash: str


class Look(NamedTuple):
    """The run at one moment, and a page of the entries that the reader has not seen."""

    status: str
    head_seq: int
    head_hash: str
    page: list[Entry]


def _position(*, last_event_id: str | None, after: str | None) -> tuple[int, list[str]]:
    """Where to go on, and who says so: the header, if there is one. Whoever comes back
    to the same address sends a newer header with it."""
    text, loc = after, ["query", "after"]
    if last_event_id is not None:
        text, loc = last_event_id, ["header", "Last-Event-ID"]
    if text is None:
        return 0, loc
    if not (text.isascii() and text.isdigit() and len(text) <= 10):
        raise _unacceptable(loc, "must be the number of an entry, as `id` gave it")
    return int(text), loc


def _unacceptable(loc: list[str], message: str) -> Invalid:
    return Invalid(f"{loc[-1]} {message}.", errors=[{"loc": loc, "message": message}])


def run_followed(
    *,
    principal: Principal,
    run_code: str,
    last_event_id: str | None,
    after: str | None,
    session: Session | None = None,
) -> Followed:
    """Refuses whoever may not follow, or would miss entries without knowing it."""
    number, loc = _position(last_event_id=last_event_id, after=after)
    run = run_visible(principal=principal, code=run_code)
    reader = _reader(principal, run, session)
    if readers_refused([reader]):
        raise Unauthenticated
    if number > run.head_seq:
        message = f"is {number}, but the run has {run.head_seq} entries"
        raise _unacceptable(loc, message)
    return Followed(run_id=run.pk, run_code=str(run.code), reader=reader, after=number)


def _reader(principal: Principal, run: Run, session: Session | None) -> Reader:
    if session is None:
        return Holder(principal=principal, project_id=run.project_id)
    return Guest(
        user_id=session.user_id,
        project_id=run.project_id,
        session_key=session.key,
        auth_hash=session.auth_hash,
    )


async def events(followed: Followed) -> AsyncGenerator[str]:
    """Ends with the run, with the reader's right to look, or with this server.

    Each piece is sent before the next one is read.
    """
    follower = followers().join(followed.reader)
    try:
        async with aclosing(_pieces(followed, follower)) as pieces:
            async for piece in pieces:
                follower.sends()
                yield piece
                follower.sent()
    except (DatabaseError, InterfaceError):
        # The reader comes back by itself, and goes on where it stood.
        logger.exception("The stream of run %s was cut", followed.run_code)
    finally:
        followers().leave(follower)


async def _pieces(followed: Followed, follower: Follower) -> AsyncGenerator[str]:
    last = followed.after
    yield f"retry: {RETRY_MS}\n\n"
    while not (hub().closing or follower.refused):
        # Taken before the read: what comes in between wakes it.
        news = hub().follower(followed.run_id)
        try:
            look = await read(partial(_look, followed, last))
            if look is None:
                return
            if look.page:
                last = look.page[-1].seq
                yield "".join(_event(entry, followed) for entry in look.page)
            if look.status in FINAL and last == look.head_seq:
                yield _end(followed, look)
                return
            hub().seen(followed.run_id, last)
            if last == look.head_seq and not await follower.park(
                news, seconds=HEARTBEAT_SECONDS
            ):
                yield ": still here\n\n"
        finally:
            news.cancel()


def _look(followed: Followed, last: int) -> Look | None:
    """Asked anew at every look: a key revoked meanwhile hears nothing more."""
    if readers_refused([followed.reader]):
        return None
    status, head_seq, head_hash = Run.objects.values_list(
        "status", "head_seq", "head_hash"
    ).get(pk=followed.run_id)
    page = _page(followed.run_id, last) if head_seq > last else []
    return Look(status, head_seq, head_hash, page)


def _page(run_id: int, last: int) -> list[Entry]:
    page: list[Entry] = []
    size = 0
    while size < PAGE_BYTES:
        entries = Entry.objects.filter(run_id=run_id, seq__gt=last).order_by("seq")
        some = list(entries[:STRIDE])
        page += some
        if len(some) < STRIDE:
            break
        last = some[-1].seq
        size += sum(len(entry.payload) for entry in some)
    return page


def _event(entry: Entry, followed: Followed) -> str:
    line = ledger_line(entry, run=followed.run_code)  # one line: JSON has no other
    return f"id: {entry.seq}\nevent: {entry.type}\ndata: {line}\n"


def _end(followed: Followed, look: Look) -> str:
    """Without an id: whoever comes back again stands behind the last entry."""
    told: dict[str, Any] = {
        "run": followed.run_code,
        "status": look.status,
        "head": {"seq": look.head_seq, "hash": look.head_hash},
    }
    return f"event: end\ndata: {json.dumps(told, separators=(',', ':'))}\n\n"
