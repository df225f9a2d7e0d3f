"""How often each quality gate was checked, and what came of it, over some days.

A gate is held against what a check says about it and nothing more: where a failed
attempt names its gates, the others of the check neither passed nor failed by it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice

from guidance.core.checks import (
    SEVERITIES,
    CheckState,
    Event,
    GateDefinition,
    read_gate,
)
from guidance.selectors import LoadedPolicy
from reviews.models import GateCheck

# The newest ones: a page has to come at once, however long the project lives.
CHECKS_LIMIT = 2_000
# So many bars stand side by side, of a day or of some days each.
BARS = 30
# A definition beyond these was brought by checks themselves, one like the other.
OTHERS_LIMIT = 100


@dataclass(slots=True, kw_only=True)
class Count:
    """What came of the checks that asked one gate. `verdicts` are those of ended ones."""

    bars: list[list[int]]
    checked: int = 0
    passed: int = 0
    unpassed: int = 0
    failed: int = 0
    exhausted: int = 0
    skipped: int = 0
    verdicts: int = 0

    def add(self, state: CheckState, number: int, *, bar: int) -> None:
        """One check, of which this was the gate of this number."""
        blamed = [event for event in state.history if _blames(event, number)]
        last = state.last_failure
        at_fault = last is not None and _blames(last, number)
        asked = state.resets > 0 or state.status in {"exhausted", "skipped", "aborted"}
        self.checked += 1
        self.failed += bool(blamed)
        self.exhausted += asked and at_fault
        self.skipped += state.status == "skipped" and at_fault
        if state.status == "passed":
            self.passed += 1
        elif state.status != "open" and at_fault:
            self.unpassed += 1
        else:
            return
        self.bars[bar][state.status != "passed"] += 1
        self.verdicts += sum(
            event.what in {"failed", "passed"} for event in state.history
        )

    @property
    def ended(self) -> int:
        return self.passed + self.unpassed


@dataclass(slots=True, kw_only=True)
class CountedGate:
    """`gate` is the newest definition that was met."""

    gate: GateDefinition
    count: Count
    definitions: set[GateDefinition] = field(default_factory=set)

    @property
    def varied(self) -> bool:
        """Other definitions of the same gate were met as well."""
        return bool(self.definitions - {self.gate})


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """Of checks, each counted once however many gates it asks."""

    checks: int = 0
    passed: int = 0
    first: int = 0
    asked: int = 0
    skipped: int = 0
    warned: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class GateCounts:
    """`counted_all` is false where there were more checks than are counted."""

    policy: tuple[CountedGate, ...]
    others: tuple[CountedGate, ...]
    totals: Totals
    counted_all: bool


def count_gates(
    *, project_id: int, policy: LoadedPolicy, days: int, at: datetime
) -> GateCounts:
    """One query: the newest checks, by the index that has them in this order."""
    since = at - timedelta(days=days)
    rows = GateCheck.objects.filter(project_id=project_id).order_by("-pk")
    found = list(rows.values_list("gates", "state", "opened_at")[: CHECKS_LIMIT + 1])
    newest = [row for row in found[:CHECKS_LIMIT] if row[2] >= since]
    bars = min(days, BARS)
    counted: dict[str, CountedGate] = {
        slug: CountedGate(gate=gate, count=_count_none(bars))
        for slug, gate in policy.policy.gates.items()
    }
    # Most checks ask the same gates: these are read once.
    asked = {text: [*map(read_gate, json.loads(text))] for text, *_ in newest}
    states: list[CheckState] = []
    for gates, text, opened_at in newest:
        state = CheckState.from_json(json.loads(text))
        states.append(state)
        bar = min(int((opened_at - since) / timedelta(days=days) * bars), bars - 1)
        for number, gate in enumerate(asked[gates], 1):
            known = counted.setdefault(
                gate.slug, CountedGate(gate=gate, count=_count_none(bars))
            )
            known.definitions.add(gate)
            known.count.add(state, number, bar=bar)
    own = policy.policy.gates
    others = (item for slug, item in counted.items() if slug not in own)
    return GateCounts(
        policy=_sort(counted[slug] for slug in own),
        others=_sort(islice(others, OTHERS_LIMIT)),
        totals=_sum_totals(states),
        counted_all=len(newest) < CHECKS_LIMIT or len(found) <= CHECKS_LIMIT,
    )


def _count_none(bars: int) -> Count:
    return Count(bars=[[0, 0] for _ in range(bars)])


def _blames(event: Event, number: int) -> bool:
    """A failure that names no gate is one of all of them."""
    return event.what == "failed" and (
        not event.failed_gates or number in event.failed_gates
    )


def _sort(items: Iterable[CountedGate]) -> tuple[CountedGate, ...]:
    """The most severe first."""
    return tuple(sorted(items, key=lambda item: SEVERITIES.index(item.gate.severity)))


def _sum_totals(states: Sequence[CheckState]) -> Totals:
    passed = [state for state in states if state.status == "passed"]
    return Totals(
        checks=len(states),
        passed=len(passed),
        first=sum(len(state.history) == 1 for state in passed),
        asked=sum(
            state.resets > 0 or state.status in {"exhausted", "skipped", "aborted"}
            for state in states
        ),
        skipped=sum(state.status == "skipped" for state in states),
        warned=sum(state.status in {"warned", "logged"} for state in states),
    )
