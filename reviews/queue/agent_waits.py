"""Does an agent wait for this review, and when was one last seen?"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db import connection

from ledger.chain import format_timestamp
from ledger.writer import sql
from reviews.models import SERVER_KINDS, AgentWait, Review, ReviewState

# Longer than waits are stored apart: who was seen within this is still there. A review
# that is younger may have an agent that was not seen yet.
SEEN_WITHIN = timedelta(seconds=15)


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """`now`: an agent waits at this moment; `last_at`: when one was seen last."""

    at: datetime
    last_at: datetime | None

    @property
    def now(self) -> bool:
        return self.last_at is not None and self.at - self.last_at < SEEN_WITHIN

    def to_answer(self) -> dict[str, object]:
        return {
            "now": self.now,
            "last_at": format_timestamp(self.last_at) if self.last_at else None,
        }


def get_waiting(review: Review, at: datetime) -> Waiting | None:
    """None where nobody waits by nature, or where it is too early to tell."""
    if review.state != ReviewState.OPEN or review.kind in SERVER_KINDS:
        return None
    wait: AgentWait | None = getattr(review, "agent_wait", None)
    if wait is not None:
        return Waiting(at=at, last_at=wait.seen_at)
    if at - review.opened_at < SEEN_WITHIN:
        return None
    return Waiting(at=at, last_at=None)


# In one order: two processes that store the same rows must not wait for each other.
_STORE = """
INSERT INTO reviews_agentwait (review_id, seen_at)
SELECT review.id, seen.at FROM {seen}
  JOIN reviews_review review ON review.code = seen.code
 WHERE review.state = 'open' ORDER BY review.id
ON CONFLICT (review_id) DO UPDATE SET seen_at = excluded.seen_at
"""
_PG_STORE = _STORE.format(
    seen="unnest(%s::uuid[], %s::timestamptz[]) AS seen(code, at)"
)
_SQLITE_STORE = _STORE.format(
    seen="(SELECT json_extract(value, '$[0]') AS code, json_extract(value, '$[1]') AS at "
    "FROM json_each(%s)) AS seen"
)


def store_waits(seen: Mapping[UUID, datetime]) -> None:
    """Store when agents were seen waiting, by the codes of the reviews.

    By one statement with two parameters: thousands may wait, and the rows of the ORM would
    keep the processor from them for a tenth of a second (bench waiting).
    """
    codes, times = [code.hex for code in seen], [*seen.values()]
    if connection.vendor == "postgresql":
        sql.execute(_PG_STORE, [sql.format_array(codes), sql.format_array(times)])
    else:
        pairs = [*zip(codes, sql.to_sqlite(times), strict=True)]
        sql.execute(_SQLITE_STORE, [json.dumps(pairs)])
