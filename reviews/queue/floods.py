"""A queue that fills: how full it is for the whole project, and which agents fill it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Count, QuerySet

from guidance.core.policy.caps import ReviewCap
from guidance.services import get_caps_in_force
from reviews.caps import count_agents
from reviews.models import SERVER_KINDS, Review, ReviewState
from safetext import make_visible_line

# From this share of a cap on; at the cap itself more is refused already.
SHOWN_FROM = 0.75
# More than this are no longer one agent's doing.
SHOWN_MOST = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentShare:
    """An agent and the number of its open reviews."""

    agent: str
    agent_code: UUID
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Flood(AgentShare):
    """An agent near its own cap."""

    limit: int

    @property
    def full(self) -> bool:
        return self.count >= self.limit


@dataclass(frozen=True, slots=True, kw_only=True)
class Crowd:
    """A project near its cap. `shares` are the agents with the most open reviews, of so
    many `agents` that have any."""

    count: int
    limit: int
    kept: int
    shares: tuple[AgentShare, ...]
    agents: int

    @property
    def full(self) -> bool:
        """Not even what is critical can be asked."""
        return self.count >= self.limit

    @property
    def refuses(self) -> bool:
        """Whether it refuses what is not critical."""
        return self.count >= self.limit - self.kept

    @property
    def percent(self) -> int:
        return self.count * 100 // self.limit


@dataclass(frozen=True, slots=True, kw_only=True)
class Filling:
    """The same for every viewer: it is sent to all of them."""

    crowd: Crowd | None = None
    floods: tuple[Flood, ...] = ()


def open_reviews_of_agents(project_id: int) -> QuerySet[Review]:
    """What agents wait for; what the server asks for is ours to ask."""
    return Review.objects.filter(project_id=project_id, state=ReviewState.OPEN).exclude(
        kind__in=SERVER_KINDS
    )


def count_open(project_id: int) -> int:
    return Review.objects.filter(project_id=project_id, state=ReviewState.OPEN).count()


def read_filling(*, project_id: int, total: int) -> Filling:
    """The project near its cap, and agents near theirs.

    `total` is how many reviews are open: few fill no queue, and nothing is counted.
    """
    cap = get_caps_in_force(project_id=project_id).open_reviews
    limits = [limit for limit in (cap.agent, cap.project) if limit is not None]
    if not limits or total < _get_first_shown(min(limits)):
        return Filling()
    rows = (
        open_reviews_of_agents(project_id)
        .values_list("run__agent__code", "run__agent__name")
        .annotate(count=Count("pk"))
        .order_by("-count", "run__agent__name")
    )
    shares = [
        AgentShare(agent=make_visible_line(name), agent_code=code, count=count)
        for code, name, count in rows
    ]
    return Filling(
        crowd=_find_crowd(cap, project_id=project_id, total=total, shares=shares),
        floods=tuple(_list_floods(cap.agent, shares)),
    )


def _find_crowd(
    cap: ReviewCap, *, project_id: int, total: int, shares: list[AgentShare]
) -> Crowd | None:
    if cap.project is None or total < _get_first_shown(cap.project):
        return None
    limit = cap.get_project_limit(count_agents(project_id)) or cap.project
    if total < _get_first_shown(limit):
        return None
    return Crowd(
        count=total,
        limit=limit,
        kept=cap.count_kept(limit),
        shares=tuple(shares[:SHOWN_MOST]),
        agents=len(shares),
    )


def _list_floods(limit: int | None, shares: list[AgentShare]) -> list[Flood]:
    if limit is None:
        return []
    return [
        Flood(
            agent=each.agent,
            agent_code=each.agent_code,
            count=each.count,
            limit=limit,
        )
        for each in shares[:SHOWN_MOST]
        if each.count >= _get_first_shown(limit)
    ]


def _get_first_shown(limit: int) -> int:
    return math.ceil(limit * SHOWN_FROM)
