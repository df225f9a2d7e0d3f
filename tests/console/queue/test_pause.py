"""The figures that stopped a run: none is shown as equal to the limit it is beyond."""

from __future__ import annotations

from typing import Any

from console.queue.kinds.pause import Measure, list_measures
from console.runs.rows import list_amounts
from guidance.core.steps.gates import REGISTRY
from ledger.models import Run
from tests.support.rows import each_row

METRICS: dict[str, Any] = {
    "rework_ratio": 0.0,
    "uncertainty": 0.1,
    "coherence": 0.9,
    "budget_slope": 0.0,
    "steps_since_checkpoint": 1,
}
LIMITS = {
    "max_rework_ratio": 0.3,
    "max_uncertainty": 0.8,
    "min_coherence": 0.4,
    "max_budget_slope": 0.05,
    "max_consecutive_steps": 25,
    "repeat_limit": 3,
}


def measure(name: str, gate: str, **metrics: float | None) -> Measure:
    finding = {"gate": gate, "decision": "pause", "limit": 1.0, "value": 1.0}
    decision = {"metrics": METRICS | metrics, "findings": [finding]}
    content = {"decision": decision, "limits": LIMITS}
    return next(s for s in list_measures(content, amounts=()) if s.name == name)


@each_row("gate", list(REGISTRY))
def test_every_gate_that_may_pause_a_run_has_its_line(gate: str) -> None:
    finding = {"gate": gate, "decision": "pause", "limit": 1.0, "value": 1.0}
    decision = {"metrics": METRICS, "findings": [finding]}
    amounts = list_amounts(Run(tokens_used=2, tokens_limit=1))
    found = list_measures({"decision": decision, "limits": LIMITS}, amounts=amounts)
    assert [item.tone for item in found if item.tone] == ["pause"]


@each_row(
    ("name", "metric", "value", "shown"),
    [
        ("Uncertainty", "uncertainty", 0.801, "0.801"),
        ("Uncertainty", "uncertainty", 0.8000001, "0.8000001"),
        ("Uncertainty", "uncertainty", 0.91, "0.91"),
        ("Coherence", "coherence", 0.3999, "0.3999"),
        ("Rework ratio", "rework_ratio", 0.3001, "30.01 %"),
        ("Spend slope", "budget_slope", 0.0501, "+5.01 %"),
        ("Spend slope", "budget_slope", 0.0713, "+7.1 %"),
        ("Spend slope", "budget_slope", -0.05, "\N{MINUS SIGN}5.0 %"),
    ],
)
def test_a_value_beyond_its_limit_is_not_shown_as_equal_to_it(
    name: str, metric: str, value: float, shown: str
) -> None:
    gates = {"Rework ratio": "rework", "Spend slope": "slope"}
    found = measure(name, gates.get(name, name.lower()), **{metric: value})
    assert found.value == shown
    assert found.value.lstrip("+") not in found.limit


@each_row(
    ("said", "seen", "shown"),
    [
        (1.0, 0.31, "floor 0.40, says 1.00, we see 0.31"),
        (0.31, 0.31, "floor 0.40"),
        (None, 0.31, "floor 0.40"),
        (0.31, None, "floor 0.40"),
    ],
)
def test_what_the_agent_says_stands_beside_what_was_seen(
    said: float | None, seen: float | None, shown: str
) -> None:
    both = {"coherence_reported": said, "coherence_computed": seen}
    found = measure("Coherence", "coherence", **{"coherence": 0.31, **both})
    assert (found.value, found.limit) == ("0.31", shown)


@each_row(
    ("used", "limit", "shown"),
    [
        (3_001, 3_000, "3,001"),
        (2_999, 3_000, "2,999"),
        (3_000, 3_000, "3k"),
        (1_200, 3_000, "1.2k"),
        (1_000_400, 1_000_000, "1,000,400"),
    ],
)
def test_what_was_used_is_told_from_the_limit(
    used: int, limit: int, shown: str
) -> None:
    tokens, *_ = list_amounts(Run(tokens_used=used, tokens_limit=limit))
    assert tokens.used == shown


@each_row(
    ("used", "limit", "shown", "percent"),
    [
        (10_004_000, 10_000_000, "$10.004", "100.04 %"),
        (9_996_000, 10_000_000, "$9.996", "99.96 %"),
        (10_000_000, 10_000_000, "$10.00", "100 %"),
        (1_250_000, 10_000_000, "$1.25", "12 %"),
    ],
)
def test_money_and_shares_too(used: int, limit: int, shown: str, percent: str) -> None:
    cost = list_amounts(Run(cost_micros_used=used, cost_micros_limit=limit))[3]
    assert (cost.used, cost.percent) == (shown, percent)


def test_time_too() -> None:
    run = Run(time_ms_used=3_600_400, time_ms_limit=3_600_000)
    time = list_amounts(run)[2]
    assert (time.used, time.limit) == ("1 h 0.4 s", "1 h")
