"""Caps: how much of one kind an agent, and a whole project, may have open at once.

People can look at so many things. A cap keeps one agent from filling their queue: what
comes on top is refused, and never let through.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, Literal

from guidance.core.settings import limit, number, part, whole

_NO_LIMIT = "null is no limit."
_MANY = 1_000_000
_MOST_EACH = 1_000
# What is kept for critical reviews leaves at least half for the others.
_MOST_KEPT = 0.5
# 0.29 of 100 are 29.
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Cap:
    """The number of one kind that an agent, and a whole project, may have open; None: any.

    A project with many agents may have more: `project_per_agent` for each of them.
    """

    agent: int | None = limit(None, "An agent", _NO_LIMIT, high=_MANY)
    project: int | None = limit(None, "The project", _NO_LIMIT, high=_MANY)
    # A cap that people chose grows with the fleet only if they say so.
    project_per_agent: int = whole(
        0,
        "The project, for each agent",
        "A project with many agents may have so many for each of them, where that is "
        "more; 0 is none.",
        low=0,
        high=_MOST_EACH,
        only_with="project",
    )

    def get_project_limit(self, agents: int) -> int | None:
        """The cap of a project with so many agents."""
        if self.project is None:
            return None
        return max(self.project, self.project_per_agent * agents)

    def find_reached(
        self, *, agent: int, project: int, agents: int
    ) -> CapReached | None:
        """The cap that leaves no room for one more, with so many open."""
        if self.agent is not None and agent >= self.agent:
            return CapReached(scope="agent", count=agent, limit=self.agent)
        limit = self.get_project_limit(agents)
        if limit is not None and project >= limit:
            return CapReached(
                scope="project", count=project, limit=limit, agents=agents
            )
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewCap(Cap):
    """Keeps a part of the project's cap for what is critical."""

    critical_share: float = number(
        0.0,
        "Kept for critical reviews",
        "This share of the project's cap is for critical reviews alone.",
        high=_MOST_KEPT,
        unit="share",
    )

    def count_kept(self, limit: int) -> int:
        """Count those that are for critical reviews alone; none of a handful."""
        return math.floor(limit * self.critical_share + _ROUNDING)

    def find_room(self, *, agent: int, project: int, agents: int) -> ReviewRoom:
        reached = self.find_reached(agent=agent, project=project, agents=agents)
        limit = self.get_project_limit(agents)
        kept = 0 if limit is None else self.count_kept(limit)
        if reached is not None or limit is None or project < limit - kept:
            return ReviewRoom(critical=reached, other=reached)
        full = CapReached(
            scope="project", count=project, limit=limit, kept=kept, agents=agents
        )
        return ReviewRoom(critical=None, other=full)


@dataclass(frozen=True, slots=True, kw_only=True)
class CapReached:
    """A fact, stored with the decision that it changed. `kept`: so many of the limit are
    for critical reviews alone, and this was none. `agents`: so many the project had, if
    its cap grows with them."""

    scope: Literal["agent", "project"]
    count: int
    limit: int
    kept: int = 0
    agents: int = 0

    def to_json(self) -> dict[str, Any]:
        """Leave out what is nothing, so that it reads as before there was anything to keep."""
        stored = asdict(self)
        usual = [name for name in ("kept", "agents") if not stored[name]]
        return {name: stored[name] for name in stored if name not in usual}

    def describe(self, what: str) -> str:
        """A sentence without its full stop: "This agent has 100 open runs, …"."""
        kept = f", of which {self.kept:,} are kept for critical ones" * bool(self.kept)
        return (
            f"This {self.scope} has {self.count:,} {what}, and its limit is "
            f"{self.limit:,}{kept}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewRoom:
    """The caps that keep one more review from being opened: a critical one, and any other."""

    critical: CapReached | None = None
    other: CapReached | None = None

    def find_reached(self, severity: str) -> CapReached | None:
        return self.critical if severity == "critical" else self.other


@dataclass(frozen=True, slots=True, kw_only=True)
class Caps:
    """Far above what people can keep up with, and far below what fills a queue."""

    open_reviews: ReviewCap = part(
        ReviewCap,
        "Open reviews",
        "Reviews that wait for a person. On top of it a call that needs one is blocked, "
        "and a step that would pause stops.",
        default=ReviewCap(
            agent=100, project=2_000, project_per_agent=2, critical_share=0.1
        ),
    )
    open_runs: Cap = part(
        Cap,
        "Open runs",
        "Runs that are running or paused.",
        default=Cap(agent=1_000, project=10_000, project_per_agent=4),
    )
    notes: Cap = part(
        Cap,
        "Notes",
        "Notes to the loop that wait to be worked through.",
        default=Cap(agent=100, project=1_000, project_per_agent=1),
    )
    recommendations: Cap = part(
        Cap,
        "Recommendations",
        "Recommendations that wait to be adopted or dismissed.",
        default=Cap(agent=50, project=500, project_per_agent=1),
    )
