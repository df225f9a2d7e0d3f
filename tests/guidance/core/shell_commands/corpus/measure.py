"""Recall and false alarms by category, for a test and for the benchmark."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tests.guidance.core.shell_commands.corpus import CASES, TABLES, Case

# From a command to the rules that tripped, each with its `uninspectable` mark.
Judge = Callable[[str], Iterable[tuple[str, bool]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """`caught` counts any finding, `exact` those by a rule that was expected."""

    category: str
    dangerous: int
    caught: int
    exact: int
    harmless: int
    alarms: int

    @property
    def recall(self) -> float | None:
        return self.caught / self.dangerous if self.dangerous else None

    @property
    def alarm_rate(self) -> float | None:
        return self.alarms / self.harmless if self.harmless else None


def measure(judge: Judge) -> tuple[Row, ...]:
    """One row for each category."""
    found = {case: tuple(judge(case.command)) for case in CASES}
    return tuple(_row(category, found) for category in TABLES)


def _row(category: str, found: dict[Case, tuple[tuple[str, bool], ...]]) -> Row:
    cases = {case: rules for case, rules in found.items() if case.category == category}
    dangerous = {case: rules for case, rules in cases.items() if case.dangerous}
    return Row(
        category=category,
        dangerous=len(dangerous),
        caught=sum(bool(rules) for rules in dangerous.values()),
        exact=sum(case.met(rules) for case, rules in dangerous.items()),
        harmless=len(cases) - len(dangerous),
        alarms=sum(bool(rules) for case, rules in cases.items() if not case.dangerous),
    )
