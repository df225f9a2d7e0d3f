"""Agents that fill the queue: shown to people as one item each, to be closed at once."""

from __future__ import annotations

import math
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Count, QuerySet

from guidance.services import get_caps_in_force
from reviews.models import SERVER_KINDS, Review, ReviewState
from safetext import make_visible_line

# From this share of a cap on; at the cap itself more is refused already.
SHOWN_FROM = 0.8
# More than this are no longer one agent's doing.
SHOWN_MOST = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Flood:
    """The same for every viewer: it is sent to all of them."""

    agent: str
    agent_code: UUID
    count: int
    limit: int
    # Whose limit it is: the agent's own, or that of the whole project.
    own: bool
    full: bool


def open_reviews_of_agents(project_id: int) -> QuerySet[Review]:
    """What agents wait for; what the server asks for is ours to ask."""
    return Review.objects.filter(project_id=project_id, state=ReviewState.OPEN).exclude(
        kind__in=SERVER_KINDS
    )


def list_floods(*, project_id: int, total: int) -> list[Flood]:
    """Agents near their cap, and those with the most reviews near the project's.

    `total` is how many reviews are open: few fill no queue, and nothing is counted.
    """
    cap = get_caps_in_force(project_id=project_id).open_reviews
    limits = [limit for limit in (cap.agent, cap.project) if limit is not None]
    if not limits or total < _get_first_shown(min(limits)):
        return []
    rows = (
        open_reviews_of_agents(project_id)
        .values_list("run__agent__code", "run__agent__name")
        .annotate(count=Count("pk"))
        .order_by("-count", "run__agent__name")
    )
    counted = [(code, name, count) for code, name, count in rows]
    crowded = cap.project is not None and total >= _get_first_shown(cap.project)
    floods = []
    for code, name, count in counted[:SHOWN_MOST]:
        own = cap.agent is not None and count >= _get_first_shown(cap.agent)
        limit = cap.agent if own else cap.project
        if limit is None or not (own or crowded):
            continue
        floods.append(
            Flood(
                agent=make_visible_line(name),
                agent_code=code,
                count=count,
                limit=limit,
                own=own,
                full=(count if own else total) >= limit,
            )
        )
    return floods


def _get_first_shown(limit: int) -> int:
    return math.ceil(limit * SHOWN_FROM)
