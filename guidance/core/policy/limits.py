"""Limits that runs use up together: all of an agent in a day, all of a project in a day
and in a month; and how far a tree of runs may grow."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from guidance.core.document_reader import Section
from guidance.core.runs.usage import Budget
from guidance.core.settings import Known, Words, declare, limit

UNLIMITED = Budget(tokens=None, tool_calls=None, time_ms=None, cost_micros=None)
_AMOUNT_LIMIT = 10**15
_NO_LIMIT = "null is no limit."


def describe_amounts(
    *,
    tokens: str = _NO_LIMIT,
    tool_calls: str = _NO_LIMIT,
    time_ms: str = _NO_LIMIT,
    cost_usd: str = _NO_LIMIT,
) -> dict[str, Words]:
    """Name the parts of a budget, with what is said about each here."""
    return {
        "tokens": Words("Tokens", tokens, "tokens"),
        "tool_calls": Words("Tool calls", tool_calls, "calls"),
        "time_ms": Words("Time", time_ms, "ms"),
        "cost_usd": Words("Cost", cost_usd, "USD"),
    }


def read_amounts(section: Section, usual: Budget, *, is_shared: bool = False) -> Budget:
    """Time does not add up over runs: what they share has none."""
    high = _AMOUNT_LIMIT
    amounts = Budget(
        tokens=section.read_limit("tokens", usual.tokens, high=high),
        tool_calls=section.read_limit("tool_calls", usual.tool_calls, high=high),
        time_ms=None
        if is_shared
        else section.read_limit("time_ms", usual.time_ms, high=high),
        cost_micros=section.read_money("cost_usd", usual.cost_micros, high=high),
    )
    section.close()
    return amounts


def _declare_shared(label: str, text: str) -> Any:
    def read(section: Section, key: str, usual: Budget, _: Known) -> Budget:
        return read_amounts(section.read_part(key), usual, is_shared=True)

    inside = describe_amounts()
    del inside["time_ms"]
    return declare(UNLIMITED, label, text, read=read, inside=inside)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """None is no limit. `depth` counts the runs above a run, `children` those that one run
    has started itself."""

    agent_day: Budget = _declare_shared(
        "An agent a day", "All runs of one agent, from midnight UTC."
    )
    project_day: Budget = _declare_shared(
        "The project a day", "All runs, from midnight UTC."
    )
    project_month: Budget = _declare_shared(
        "The project a month", "All runs, from the first, UTC."
    )
    depth: int | None = limit(
        8,
        "Depth",
        "A run may have so many runs above it; null is no limit.",
        high=100,
        unit="runs",
    )
    children: int | None = limit(
        200,
        "Children",
        "A run may start so many runs itself; null is no limit.",
        high=100_000,
        unit="runs",
    )

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
