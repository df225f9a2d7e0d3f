"""What each value of a limit would have caught, and whom it would have asked in vain.

A case is a stretch of a run that a person's ruling ended, or that ended by itself: from its
beginning, or the last approval, up to an approval, an abort or the end. A limit that is
passed holds a stretch once, however many of its steps pass it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from guidance.core.policy import Policy
from guidance.core.suggestions.limits import Limit, Number

# How a stretch ended. Only people's rulings are called so: nobody was asked about what
# completed, and of all else nobody said anything.
STOPPED, APPROVED, COMPLETED, SILENT = "stopped", "approved", "completed", "silent"
# To catch one that people ended is worth asking so often in vain.
CATCH_WORTH = 5
# Fewer rulings, or fewer that ended a run, suggest nothing.
RULINGS_LEAST = 10
STOPPED_LEAST = 5
# What rests on fewer rulings is shown, but not offered as a change.
OFFERED_FROM = 20
# So many are named of those that one value holds and the next one does not.
_NAMED = 3


class Point(NamedTuple):
    """At this value: how many that people ended are held, and how many others."""

    value: Number
    caught: int
    in_vain: int

    @property
    def score(self) -> int:
        return CATCH_WORTH * self.caught - self.in_vain


class Case(NamedTuple):
    """A stretch of a run with the value that came furthest."""

    run_id: int
    outcome: str
    value: Number


@dataclass(slots=True)
class TradeOff:
    """Counts for one limit. They take the same room however many cases there are.

    `values` are the strictest first: what passes one passes all before it, so a figure is
    counted by how many it passes, its reach.
    """

    limit: Limit
    values: tuple[Number, ...]
    today: int
    cases: dict[str, list[int]] = field(default_factory=dict)
    steps: list[int] = field(default_factory=list)
    named: dict[tuple[int, str], list[Case]] = field(default_factory=dict)
    _keys: list[Number] = field(default_factory=list)

    @classmethod
    def from_policy(cls, limit: Limit, policy: Policy) -> TradeOff | None:
        """None where the policy sets no limit."""
        today = limit.get_value(policy)
        if today is None:
            return None
        rising = limit.list_values(policy)
        values = rising[::-1] if limit.bound == "below" else rising
        size = len(values) + 1
        return cls(
            limit=limit,
            values=values,
            today=values.index(today),
            cases={each: [0] * size for each in (STOPPED, APPROVED, COMPLETED)},
            steps=[0] * size,
            _keys=[-each for each in values] if limit.bound == "below" else [*values],
        )

    def get_reach(self, figure: Number) -> int:
        if self.limit.bound == "from":
            return bisect_right(self._keys, figure)
        return bisect_left(
            self._keys, -figure if self.limit.bound == "below" else figure
        )

    def add_step(self, reach: int) -> None:
        """A step that this limit alone decides about."""
        self.steps[reach] += 1

    def add_case(self, case: Case, reach: int) -> None:
        if case.outcome == SILENT:
            return
        self.cases[case.outcome][reach] += 1
        named = self.named.setdefault((reach, case.outcome), [])
        if len(named) < _NAMED:
            named.append(case)

    def count(self, outcome: str) -> int:
        return sum(self.cases[outcome])

    def list_points(self) -> list[Point]:
        """One for each value, the strictest first."""
        return [
            Point(
                value,
                self._count_held(place, STOPPED),
                self._count_held(place, APPROVED) + self._count_held(place, COMPLETED),
            )
            for place, value in enumerate(self.values)
        ]

    def has_enough(self) -> bool:
        stopped = self.count(STOPPED)
        return (
            stopped >= STOPPED_LEAST and stopped + self.count(APPROVED) >= RULINGS_LEAST
        )

    def find_best(self) -> int | None:
        """The value that serves people best; None: there is too little to tell by, or
        today's value does. A softer one has to catch all that today's does. Among equals
        it is the one nearest to today's."""
        if not self.has_enough():
            return None
        points = self.list_points()
        today = points[self.today]
        best = max(
            (
                place
                for place, point in enumerate(points)
                if place <= self.today or point.caught == today.caught
            ),
            key=lambda place: (points[place].score, -abs(place - self.today)),
        )
        return best if points[best].score > today.score else None

    def count_changed_steps(self, place: int) -> int:
        """How many decisions on steps come out otherwise at this value."""
        low, high = sorted((place, self.today))
        return sum(self.steps[low + 1 : high + 1])

    def list_changed_cases(self, place: int) -> Iterator[Case]:
        """Some of those that are held at one of the two values alone."""
        low, high = sorted((place, self.today))
        for reach in range(low + 1, high + 1):
            for outcome in (STOPPED, APPROVED, COMPLETED):
                yield from self.named.get((reach, outcome), ())

    def _count_held(self, place: int, outcome: str) -> int:
        return sum(self.cases[outcome][place + 1 :])
