"""The budget gate."""

from __future__ import annotations

from typing import Any

import pytest

from guidance.core.runs.usage import Budget, Remaining, Usage
from tests.guidance.core.builders import (
    UNLIMITED,
    ask,
    get_message,
    list_gates,
    make_report,
    step,
)
from tests.support.rows import each_row

BUDGET = Budget(
    tokens=1_000_000, tool_calls=100, time_ms=3_600_000, cost_micros=10_000_000
)
# One step of this and nothing but one of each is left.
NEARLY_ALL: dict[str, Any] = {
    "tokens": 999_999,
    "tool_calls": 99,
    "duration_ms": 3_599_999,
    "cost_micros": 9_999_999,
}


def test_one_left_of_everything_passes() -> None:
    verdict = step(make_report(**NEARLY_ALL), budget=BUDGET)
    assert verdict.decision == "continue"
    assert verdict.metrics.budget_remaining == (1, 1, 1, 1)


@each_row(
    ("field", "message"),
    [
        pytest.param("tokens", "Tokens used up: 0 of 1,000,000 left", id="CG-10"),
        pytest.param("tool_calls", "Tool calls used up: 0 of 100 left", id="CG-11"),
        pytest.param("duration_ms", "Time used up: 0 s of 1 h left", id="CG-12"),
        pytest.param(
            "cost_micros", "Cost used up: 0.00 USD of 10.00 USD left", id="cost"
        ),
    ],
)
def test_the_last_of_any_part_stops_and_is_named(field: str, message: str) -> None:
    spent = NEARLY_ALL | {field: NEARLY_ALL[field] + 1}
    verdict = step(make_report(**spent), budget=BUDGET)
    assert verdict.decision == "stop"
    assert get_message(verdict, "budget") == message


def test_every_part_that_is_used_up_is_named() -> None:
    """CG-13."""
    spent = {name: amount + 1 for name, amount in NEARLY_ALL.items()}
    verdict = step(make_report(**spent), budget=BUDGET)
    assert list_gates(verdict) == ["budget"]
    assert get_message(verdict, "budget") == (
        "Tokens used up: 0 of 1,000,000 left; tool calls used up: 0 of 100 left; "
        "time used up: 0 s of 1 h left; cost used up: 0.00 USD of 10.00 USD left"
    )


def test_overspending_is_told_and_the_rest_is_never_below_zero() -> None:
    """CG-14 and BU-08."""
    verdict = step(make_report(tokens=1_000_100), budget=BUDGET)
    assert verdict.decision == "stop"
    assert get_message(verdict, "budget") == (
        "Tokens used up: 0 of 1,000,000 left, 100 over"
    )
    assert verdict.findings[0].value == -100
    assert verdict.findings[0].limit == 0
    assert verdict.metrics.budget_remaining.tokens == 0


def test_earlier_use_counts() -> None:
    verdict = step(
        make_report(tokens=1), used=Usage(tokens=999_999), budget=Budget(tokens=10**6)
    )
    assert verdict.decision == "stop"
    assert verdict.used.tokens == 10**6


def test_what_is_unlimited_never_runs_out() -> None:
    verdict = step(
        make_report(tokens=10**12, tool_calls=10**9, duration_ms=10**12),
        budget=UNLIMITED,
    )
    assert verdict.decision == "continue"
    assert verdict.metrics.to_json()["budget_remaining"] == {
        "tokens": None,
        "tool_calls": None,
        "time_ms": None,
        "cost_usd": None,
    }


def test_the_budget_may_be_one_part_alone() -> None:
    budget = Budget(tokens=None, tool_calls=None, time_ms=None, cost_micros=5)
    assert step(make_report(cost_micros=4), budget=budget).decision == "continue"
    assert step(make_report(cost_micros=5), budget=budget).decision == "stop"


def test_what_remains_is_told_with_money_as_text() -> None:
    report = make_report(
        tokens=1830, tool_calls=2, duration_ms=4200, cost_micros=12_100
    )
    assert step(report, budget=Budget()).metrics.to_json()["budget_remaining"] == {
        "tokens": 998_170,
        "tool_calls": 9_998,
        "time_ms": 3_595_800,
        "cost_usd": "9.9879",
    }


@each_row(
    ("left", "message"),
    [
        pytest.param(
            {"tokens": 0}, "Tokens used up: 0 of 5,000 left", id="CG-10-tokens"
        ),
        pytest.param(
            {"tool_calls": 0}, "Tool calls used up: 0 of 20 left", id="CG-11-tool-calls"
        ),
        pytest.param({"time_ms": 0}, "Time used up: 0 s left", id="CG-12-time"),
        pytest.param(
            {"tokens": 0, "tool_calls": 0, "time_ms": 0},
            "Tokens used up: 0 of 5,000 left; tool calls used up: 0 of 20 left; "
            "time used up: 0 s left",
            id="CG-13-all",
        ),
        pytest.param(
            {"tokens": -100},
            "Tokens used up: 0 of 4,900 left, 100 over",
            id="CG-14-negative",
        ),
    ],
)
def test_without_a_run_the_callers_word_counts(
    left: dict[str, int], message: str
) -> None:
    verdict = ask(budget_remaining=Remaining(**left))
    assert verdict.decision == "stop"
    assert get_message(verdict, "budget") == message


def test_without_a_run_one_left_passes_and_nothing_said_is_unlimited() -> None:
    """CG-36's other side: no cooldown, no default that runs out."""
    one = Remaining(tokens=1, tool_calls=1, time_ms=1)
    assert ask(budget_remaining=one).decision == "continue"
    assert ask(budget_remaining=Remaining()).decision == "continue"


def test_a_caller_that_tells_no_usage_gets_a_plain_message() -> None:
    verdict = ask(total_tokens_used=0, budget_remaining=Remaining(tokens=0))
    assert get_message(verdict, "budget") == "Tokens used up: 0 left"
