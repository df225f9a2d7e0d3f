"""Does an agent wait for this review, and when was one last seen?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from ledger.chain import format_timestamp
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


def store_waits(seen: Mapping[UUID, datetime]) -> None:
    """Store when agents were seen waiting, by the codes of the reviews."""
    known = Review.objects.filter(code__in=list(seen), state=ReviewState.OPEN)
    # In one order: two processes that store the same rows must not wait for each other.
    known = known.order_by("pk")
    AgentWait.objects.bulk_create(
        [
            AgentWait(review_id=pk, seen_at=seen[code])
            for pk, code in known.values_list("pk", "code")
        ],
        update_conflicts=True,
        unique_fields=["review"],
        update_fields=["seen_at"],
    )
