"""A manager closes every open review of one agent, as one act with one reason."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal
from uuid import UUID

from accounts.auth import PersonPrincipal
from accounts.errors import DomainError
from accounts.models import Agent, Role
from accounts.selectors import require_role
from reviews.floods import open_reviews_of_agents
from reviews.models import RULINGS
from reviews.services import review_rule

# Of one act: each review is a commit of its own.
CLOSE_LIMIT = 500

Closing = Literal["deny", "abort"]


def close_agent_reviews(
    *,
    agent: Agent,
    person: PersonPrincipal,
    action: Closing,
    reason: str,
    codes: Collection[UUID],
) -> int:
    """Of these reviews those that are open: the ones the person saw, and no later one.

    Oldest first, at most CLOSE_LIMIT, each with a ruling and a ledger entry of its own;
    returns how many rulings were made.

    `deny` refuses what can be refused and aborts the run where nothing else ends the
    review; `abort` ends every run that waits. Nothing is ever approved.
    """
    require_role(user_id=person.user_id, project_id=agent.project_id, role=Role.MANAGER)
    waiting = open_reviews_of_agents(agent.project_id).filter(run__agent=agent)
    seen = waiting.filter(code__in=codes)
    rows = seen.order_by("opened_at", "pk").values_list(
        "code", "kind", "version", "content_digest"
    )
    closed = 0
    for code, kind, version, digest in list(rows[:CLOSE_LIMIT]):
        refuses = action in RULINGS[kind]
        try:
            review_rule(
                review_code=str(code),
                person=person,
                action=action if refuses else "abort",
                version=version,
                content_digest=digest,
                note=reason,
            )
        except DomainError:
            # Somebody was faster, or it ended with its run. Whatever else it is, the
            # review stays in the queue for everybody to see.
            continue
        closed += 1
    return closed
