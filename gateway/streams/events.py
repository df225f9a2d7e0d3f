"""A run's ledger as server-sent events: what is there, then whatever comes.

Nothing is kept for a reader but the number of the entry it was given last: a slow one is
waited for, and one that comes back names that number and goes on behind it. What is new
is read once for all readers of a run (`gateway.streams.feeds`).
"""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from django.db import DatabaseError, InterfaceError

from accounts.auth import Principal
from common.errors import Invalid, Unauthenticated
from gateway.streams.feeds import Head, follow_feed
from gateway.streams.followers import Follower, get_followers
from gateway.streams.limits import StreamSlot, take_slot
from ledger.models import FINAL, Run
from ledger.selectors import get_visible_run, is_administration_run
from ledger.waiting.hub import get_hub
from ledger.writer.halts import KnownHalt
from reviews.open_access import Access, KeyAccess, SessionAccess, list_refused

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
GONE = "Entries of run %s after %d are gone, its head is %d: run ledger_verify"

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Followed:
    """A run that may be followed by this reader, from behind this entry on."""

    run_id: int
    run_code: str
    reader: Access
    after: int
    slot: StreamSlot


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """The browser session that a person came with."""

    user_id: int
    key: str
    auth_hash: str


def _parse_position(
    *, last_event_id: str | None, after: str | None
) -> tuple[int, list[str]]:
    """Where to go on, and who says so: the header, if there is one. Whoever comes back
    to the same address sends a newer header with it."""
    text, loc = after, ["query", "after"]
    if last_event_id is not None:
        text, loc = last_event_id, ["header", "Last-Event-ID"]
    if text is None:
        return 0, loc
    if not (text.isascii() and text.isdigit() and len(text) <= 10):
        raise _build_position_error(
            loc, "must be the number of an entry, as `id` gave it"
        )
    return int(text), loc


def _build_position_error(loc: list[str], message: str) -> Invalid:
    return Invalid(f"{loc[-1]} {message}.", errors=[{"loc": loc, "message": message}])


def open_stream(
    *,
    principal: Principal,
    run_code: str,
    last_event_id: str | None,
    after: str | None,
    session: Session | None = None,
) -> Followed:
    """Refuses whoever may not follow, follows too much already, or would miss entries
    without knowing it."""
    number, loc = _parse_position(last_event_id=last_event_id, after=after)
    run = get_visible_run(principal=principal, code=run_code)
    reader = _build_access(principal, run, session)
    if list_refused([reader]):
        raise Unauthenticated
    if number > run.head_seq:
        message = f"is {number}, but the run has {run.head_seq} entries"
        raise _build_position_error(loc, message)
    return Followed(
        run_id=run.pk,
        run_code=str(run.code),
        reader=reader,
        after=number,
        slot=take_slot(reader, run.pk),
    )


def _build_access(principal: Principal, run: Run, session: Session | None) -> Access:
    needs_sight = is_administration_run(run)
    if session is None:
        return KeyAccess(
            principal=principal, project_id=run.project_id, needs_sight=needs_sight
        )
    return SessionAccess(
        user_id=session.user_id,
        project_id=run.project_id,
        session_key=session.key,
        auth_hash=session.auth_hash,
        needs_sight=needs_sight,
    )


async def stream_events(followed: Followed) -> AsyncGenerator[str]:
    """Ends with the run, with the reader's right to look, or with this server.

    Each piece is sent before the next one is read.
    """
    follower = get_followers().join(followed.reader)
    try:
        async with aclosing(_stream_pieces(followed, follower)) as pieces:
            async for piece in pieces:
                follower.mark_sending()
                yield piece
                follower.mark_sent()
    except (DatabaseError, InterfaceError):
        # The reader comes back by itself, and goes on where it stood.
        logger.exception("The stream of run %s was cut", followed.run_code)
    finally:
        get_followers().leave(follower)
        followed.slot.release()


async def _stream_pieces(followed: Followed, follower: Follower) -> AsyncGenerator[str]:
    last, halt = followed.after, None
    yield f"retry: {RETRY_MS}\n\n"
    with follow_feed(followed.run_id, followed.run_code, follower) as feed:
        while not (get_hub().closing or follower.refused):
            if feed.error is not None:
                raise feed.error
            head = feed.head
            if head is not None and feed.halt != halt:
                told, halt = halt, feed.halt
                yield _render_halt(followed, halt, before=told)
                continue
            if head is not None and head.seq > last:
                page = await feed.get_page(last)
                if page.last > last:
                    last = page.last
                    yield page.text
                    continue
                # Deleted past us: looked for again with each heartbeat, no sooner.
                logger.error(GONE, followed.run_code, last, head.seq)
            elif head is not None and head.seq == last and head.status in FINAL:
                yield _render_end(followed, head)
                return
            if not await feed.wait(follower, seconds=HEARTBEAT_SECONDS):
                yield ": still here\n\n"


def _render_halt(
    followed: Followed, halt: KnownHalt | None, *, before: KnownHalt | None
) -> str:
    """Without an id: it is no entry of this run."""
    told = halt or before
    assert told is not None
    event = "released" if halt is None else "halted"
    body = {"run": followed.run_code, "halt": told.to_json()}
    return f"event: {event}\ndata: {json.dumps(body, separators=(',', ':'))}\n\n"


def _render_end(followed: Followed, head: Head) -> str:
    """Without an id: whoever comes back again stands behind the last entry."""
    ended: dict[str, Any] = {
        "run": followed.run_code,
        "status": head.status,
        "head": {"seq": head.seq, "hash": head.hash},
    }
    return f"event: end\ndata: {json.dumps(ended, separators=(',', ':'))}\n\n"
