"""Limits that runs use up together: all of an agent in a day, all of a project in a day
and in a month; and how far a tree of runs may grow."""

from __future__ import annotations

from dataclasses import dataclass, fields

from guidance.core.document_reader import Section
from guidance.core.runs.usage import Budget

UNLIMITED = Budget(tokens=None, tool_calls=None, time_ms=None, cost_micros=None)
_AMOUNT_LIMIT = 10**15
_DEPTH_LIMIT = 100
_CHILDREN_LIMIT = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """None is no limit. `depth` counts the runs above a run, `children` those that one run
    has started itself."""

    agent_day: Budget = UNLIMITED
    project_day: Budget = UNLIMITED
    project_month: Budget = UNLIMITED
    depth: int | None = 8
    children: int | None = 200

    @property
    def are_shared(self) -> bool:
        """Whether anything is limited that runs use up together."""
        return (self.agent_day, self.project_day, self.project_month) != (
            UNLIMITED,
            UNLIMITED,
            UNLIMITED,
        )


def take_stricter(one: Budget, other: Budget) -> Budget:
    """Of each part the smaller limit; None only where neither limits it."""
    if other == UNLIMITED:
        return one
    return Budget(
        **{
            part.name: min(
                (
                    limit
                    for limit in (getattr(one, part.name), getattr(other, part.name))
                    if limit is not None
                ),
                default=None,
            )
            for part in fields(Budget)
        }
    )


SCOPES = tuple(each.name for each in fields(Limits) if each.default is UNLIMITED)


def read_limits(section: Section) -> Limits:
    """The limits section of a policy document, read strictly."""
    default = Limits()
    limits = Limits(
        agent_day=_read_amounts(section.read_part("agent_day")),
        project_day=_read_amounts(section.read_part("project_day")),
        project_month=_read_amounts(section.read_part("project_month")),
        depth=section.read_limit("depth", default.depth, high=_DEPTH_LIMIT),
        children=section.read_limit("children", default.children, high=_CHILDREN_LIMIT),
    )
    section.close()
    return limits


def _read_amounts(section: Section) -> Budget:
    high = _AMOUNT_LIMIT
    amounts = Budget(
        tokens=section.read_limit("tokens", None, high=high),
        tool_calls=section.read_limit("tool_calls", None, high=high),
        time_ms=None,
        cost_micros=section.read_money("cost_usd", None, high=high),
    )
    section.close()
    return amounts
