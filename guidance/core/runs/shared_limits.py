"""Limits that several runs use up together, and what they say about one of these runs.

A run's budget holds for it and for all runs below it; others stand for an agent or a
project over a day or a month.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from guidance.core.money import format_usd
from guidance.core.runs.usage import Budget, Usage

# Parts of a budget that add up over runs. Time does not: runs work at the same time.
PARTS = ("tokens", "tool_calls", "cost_micros")
RUN = "run"
PROJECT_MONTH = "project_month"
# A notice is written once, when so many percent are used.
NOTICE_PERCENTS = (75, 90, 95)

NOTHING = Usage()
_WHOSE = {
    RUN: ("The parent run's", "", ", by it and the runs below it"),
    "agent_day": ("This agent's", " for today", ""),
    "project_day": ("The project's", " for today", ""),
    PROJECT_MONTH: ("The project's", " for this month", ""),
}
_PART_WORDS = {
    "tokens": ("tokens", "are"),
    "tool_calls": ("tool calls", "are"),
    "cost_micros": ("cost", "is"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedLimit:
    """One limit and what is used of it. `run` is the id of the run whose budget it is;
    `noticed` is the percentage that the last notice told of, `key` where it is counted."""

    scope: str
    part: str
    limit: int
    used: int
    run: str | None = None
    noticed: int = 0
    key: tuple[str, int, str] | None = None

    @property
    def is_reached(self) -> bool:
        return self.used >= self.limit

    @property
    def percent(self) -> int:
        return self.used * 100 // self.limit if self.limit else 100

    @property
    def due_notice(self) -> int | None:
        """The percentage that a notice has to tell of, once; at 100 a run is stopped."""
        passed = [each for each in NOTICE_PERCENTS if each <= self.percent]
        due = passed[-1] if passed and not self.is_reached else 0
        return due if due > self.noticed else None

    def find_renewal(self, at: datetime) -> datetime | None:
        """When it begins anew, as days and months of UTC do; a run's budget never does."""
        if self.scope == RUN:
            return None
        day = at.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        if self.scope == PROJECT_MONTH:
            return (day.replace(day=1) + timedelta(days=32)).replace(day=1)
        return day + timedelta(days=1)

    def is_near(self, usage: Usage) -> bool:
        """Whether it has anything to say once so much more is used."""
        used: int = self.used + getattr(usage, self.part)
        return used * 100 >= self.limit * NOTICE_PERCENTS[0]

    def add(self, usage: Usage) -> SharedLimit:
        return replace(self, used=self.used + getattr(usage, self.part))

    def to_json(self) -> dict[str, Any]:
        named = {} if self.run is None else {"run": self.run}
        return {
            "scope": self.scope,
            "part": self.part,
            "limit": self.limit,
            "used": self.used,
            **named,
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> SharedLimit:
        return cls(**document)

    def describe_reached(self) -> str:
        part, are = _PART_WORDS[self.part]
        whose, when, by = _WHOSE[self.scope]
        return f"{whose} {part}{when} {are} used up: {self._used_text}{by}"

    def describe_use(self) -> str:
        part, _ = _PART_WORDS[self.part]
        whose, when, by = _WHOSE[self.scope]
        return f"{whose} {part}{when}: {self._used_text} used{by}"

    @property
    def _used_text(self) -> str:
        unit = " USD" if self.part == "cost_micros" else ""
        return f"{self._format(self.used)} of {self._format(self.limit)}{unit}"

    def _format(self, amount: int) -> str:
        return format_usd(amount) if self.part == "cost_micros" else f"{amount:,}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedUse:
    """What a run has to know of others: what all runs below it have used, and the limits
    that it shares."""

    below: Usage = NOTHING
    limits: tuple[SharedLimit, ...] = ()

    def add(self, usage: Usage) -> SharedUse:
        """With what the run itself uses on top of it. Only limits that are near are kept:
        the others have nothing to say (bench steps)."""
        if not self.limits:
            return self
        near = [each.add(usage) for each in self.limits if each.is_near(usage)]
        return SharedUse(below=self.below, limits=tuple(near))

    def mark_noticed(self, told: SharedUse) -> SharedUse:
        """The same once the notices of `told` have been written."""
        due = {(each.key, each.part): each.due_notice for each in told.limits}
        marked = (
            replace(each, noticed=due.get((each.key, each.part)) or each.noticed)
            for each in self.limits
        )
        return replace(self, limits=tuple(marked))

    @property
    def reached(self) -> tuple[SharedLimit, ...]:
        limits = self.limits
        return tuple([each for each in limits if each.is_reached]) if limits else ()

    @property
    def has_notices(self) -> bool:
        limits = self.limits
        return bool(limits) and any(each.due_notice for each in limits)

    def to_facts(self) -> dict[str, Any]:
        """What a decision rests on, for its entry: empty where nothing is shared."""
        facts: dict[str, Any] = {}
        if self.below != NOTHING:
            facts["below"] = {part: getattr(self.below, part) for part in PARTS}
        if reached := self.reached:
            facts["reached"] = [each.to_json() for each in reached]
        return {"shared": facts} if facts else {}

    @classmethod
    def from_facts(cls, payload: Mapping[str, Any]) -> SharedUse:
        """As it stands in the entry of a decision."""
        facts = payload.get("shared")
        if facts is None:
            return NOTHING_SHARED
        return cls(
            below=Usage(**facts.get("below", {})),
            limits=tuple(map(SharedLimit.from_json, facts.get("reached", ()))),
        )


NOTHING_SHARED = SharedUse()


def list_limits(
    scope: str,
    *,
    budget: Budget,
    used: Usage,
    extra: Usage = NOTHING,
    noticed: Usage = NOTHING,
    key: tuple[str, int, str] | None = None,
    run: str | None = None,
) -> Iterator[SharedLimit]:
    """One for each part that is limited; `extra` was given on top of the budget, and
    `noticed` are percentages."""
    for part in PARTS:
        limit: int | None = getattr(budget, part)
        if limit is not None:
            yield SharedLimit(
                scope=scope,
                part=part,
                limit=limit + getattr(extra, part),
                used=getattr(used, part),
                run=run,
                noticed=getattr(noticed, part),
                key=key,
            )


def describe_all_reached(limits: Iterable[SharedLimit]) -> str:
    return "; ".join(each.describe_reached() for each in limits)
