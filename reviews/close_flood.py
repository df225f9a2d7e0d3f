"""A manager closes every open review of one agent, as one act with one reason."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from accounts.auth import PersonPrincipal
from accounts.models import Agent, Role
from accounts.selectors import require_role
from common.errors import DomainError
from reviews.errors import AlreadyRuled, ReviewExpired
from reviews.models import RULINGS, Review, ReviewState
from reviews.queue.floods import open_reviews_of_agents
from reviews.selectors import get_review_for_change
from reviews.services import submit_ruling_now

# Of one act: each review is a commit of its own.
CLOSE_LIMIT = 500

Closing = Literal["deny", "abort"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Closed:
    """How many reviews were closed, and what stopped the act before its end, if so."""

    count: int
    refusal: DomainError | None = None


def close_agent_reviews(
    *,
    agent: Agent,
    person: PersonPrincipal,
    action: Closing,
    reason: str,
    codes: Collection[UUID],
) -> Closed:
    """Of these reviews those that are open: the ones the person saw, and no later one.

    Oldest first, at most CLOSE_LIMIT, each with a ruling and a ledger entry of its own.

    `deny` refuses what can be refused and aborts the run where nothing else ends the
    review; `abort` ends every run that waits, and with it the run's other reviews.
    Nothing is ever approved.
    """
    require_role(user_id=person.user_id, project_id=agent.project_id, role=Role.MANAGER)
    waiting = open_reviews_of_agents(agent.project_id).filter(run__agent=agent)
    seen = waiting.filter(code__in=codes)
    rows = seen.order_by("opened_at", "pk").values_list(
        "code", "kind", "version", "content_digest"
    )
    closed = 0
    for code, kind, version, digest in list(rows[:CLOSE_LIMIT]):
        ruling = action if action in RULINGS[kind] else "abort"
        try:
            submit_ruling_now(
                review=get_review_for_change(user_id=person.user_id, code=str(code)),
                person=person,
                action=ruling,
                version=version,
                content_digest=digest,
                note=reason,
                unopened=True,
            )
        except (AlreadyRuled, ReviewExpired):
            continue  # somebody was faster, or it ended with its run or its time
        except DomainError as refusal:
            return Closed(count=closed, refusal=refusal)
        closed += 1
        if ruling == "abort":
            closed += _count_superseded(code)
    return Closed(count=closed)


def _count_superseded(code: UUID) -> int:
    """Other reviews that ended with the run when this one was ruled `abort`."""
    ruled = Review.objects.get(code=code)
    return Review.objects.filter(
        run_id=ruled.run_id, state=ReviewState.SUPERSEDED, closed_at=ruled.closed_at
    ).count()
