"""Caps: how much of one kind an agent, and a whole project, may have open at once.

People can look at so many things. A cap keeps one agent from filling their queue: what
comes on top is refused, and never let through.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from guidance.core.document_reader import Section

_MANY = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Cap:
    """How many of one kind an agent, and a whole project, may have open; None: any."""

    agent: int | None
    project: int | None

    def find_reached(self, *, agent: int, project: int) -> CapReached | None:
        """The cap that leaves no room for one more, with so many open."""
        if self.agent is not None and agent >= self.agent:
            return CapReached(scope="agent", count=agent, limit=self.agent)
        if self.project is not None and project >= self.project:
            return CapReached(scope="project", count=project, limit=self.project)
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class CapReached:
    """A fact, stored with the decision that it changed."""

    scope: Literal["agent", "project"]
    count: int
    limit: int

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def describe(self, what: str) -> str:
        """A sentence without its full stop: "This agent has 100 open runs, …"."""
        return (
            f"This {self.scope} has {self.count:,} {what}, and its limit is "
            f"{self.limit:,}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Caps:
    """Far above what people can keep up with, and far below what fills a queue."""

    open_reviews: Cap = field(default=Cap(agent=100, project=2_000))
    open_runs: Cap = field(default=Cap(agent=1_000, project=10_000))
    notes: Cap = field(default=Cap(agent=100, project=1_000))
    recommendations: Cap = field(default=Cap(agent=50, project=500))


def read_caps(section: Section) -> Caps:
    """The caps section of a policy document, read strictly; null lifts a cap."""
    default = Caps()

    def cap(name: str) -> Cap:
        part, given = section.read_part(name), getattr(default, name)
        read = Cap(
            agent=part.read_limit("agent", given.agent, high=_MANY),
            project=part.read_limit("project", given.project, high=_MANY),
        )
        part.close()
        return read

    caps = Caps(
        open_reviews=cap("open_reviews"),
        open_runs=cap("open_runs"),
        notes=cap("notes"),
        recommendations=cap("recommendations"),
    )
    section.close()
    return caps
