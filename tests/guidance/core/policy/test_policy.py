"""Policies and the documents they are read from."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields, replace

import pytest

from guidance.core.checks import GateDefinition, Retry
from guidance.core.policy import (
    CheckRules,
    ContinueLimits,
    Policy,
    PolicyError,
    ReviewRules,
    RunRules,
    load_policy,
)
from guidance.core.runs.usage import Budget
from guidance.core.tools.section import ToolRules
from guidance.core.turns.section import TurnRules
from tests.guidance.core.policy.dumps import dump_policy
from tests.guidance.core.policy.refusals import problems
from tests.support.rows import each_row


def test_an_empty_document_is_the_default_policy() -> None:
    """CG-01; what was a cooldown of 5000 ms is the first throttle's delay."""
    assert load_policy({}) == Policy(
        budget=Budget(
            tokens=1_000_000,
            tool_calls=10_000,
            time_ms=3_600_000,
            cost_micros=10_000_000,
        ),
        continue_limits=ContinueLimits(
            max_consecutive_steps=100,
            checkpoint_interval_steps=25,
            min_coherence=0.4,
            max_uncertainty=0.8,
            max_rework_ratio=0.3,
            rework_window=20,
            rework_min_steps=5,
            max_budget_slope=0.02,
            slope_window=10,
            slope_min_points=6,
            throttle_base_ms=5000,
            throttle_max_ms=60_000,
            repeat_limit=3,
        ),
        reviews=ReviewRules(expires_after_s=86_400, on_expiry="abort"),
        runs=RunRules(abandon_after_s=86_400),
        tools=ToolRules(max_diff_lines=300, grant_expires_s=600),
        checks=CheckRules(max_resets=3),
        gates={},
        turns=TurnRules(threshold=60, warn_from=40, max_retries=3, models={}),
    )


def test_overriding_two_values_keeps_the_others() -> None:
    """CG-02."""
    limits = load_policy(
        {"continue": {"min_coherence": 0.5, "rework_window": 50}}
    ).continue_limits
    changed = {
        field.name
        for field in fields(limits)
        if getattr(limits, field.name) != getattr(ContinueLimits(), field.name)
    }
    assert changed == {"min_coherence", "rework_window"}


def test_a_policy_cannot_be_changed() -> None:
    """CG-02."""
    with pytest.raises(FrozenInstanceError):
        Policy().continue_limits.min_coherence = 0.0  # type: ignore[misc]


def test_every_section_is_read() -> None:
    policy = load_policy(
        {
            "budget": {"tokens": 5, "tool_calls": 6, "time_ms": 7, "cost_usd": "0.01"},
            "continue": {"max_uncertainty": 1},
            "reviews": {"expires_after_s": 60, "on_expiry": "stop"},
            "runs": {"abandon_after_s": 120},
            "tools": {"max_diff_lines": 50, "idempotent": ["Read"]},
            "checks": {"max_resets": 1},
            "gates": {"tests": {"severity": "low", "retry": {"max_attempts": 5}}},
            "turns": {"max_retries": 1, "models": {"small-*": {"threshold": 80}}},
        }
    )
    assert policy.budget == Budget(
        tokens=5, tool_calls=6, time_ms=7, cost_micros=10_000
    )
    assert policy.continue_limits.max_uncertainty == 1.0
    assert policy.reviews == ReviewRules(expires_after_s=60, on_expiry="stop")
    assert policy.runs == RunRules(abandon_after_s=120)
    assert policy.tools == ToolRules(max_diff_lines=50, idempotent=("Read",))
    assert policy.checks == CheckRules(max_resets=1)
    assert policy.gates == {
        "tests": GateDefinition(
            slug="tests",
            name="tests",
            severity="low",
            mode="informational",
            retry=Retry(max_attempts=5),
        )
    }
    common = TurnRules(max_retries=1)
    assert policy.turns.get_for_model("large") == common
    assert policy.turns.get_for_model("small-1") == replace(common, threshold=80)


def test_null_in_the_budget_is_unlimited_and_a_part_left_out_keeps_its_default() -> (
    None
):
    budget = load_policy({"budget": {"tokens": None, "cost_usd": None}}).budget
    assert budget == Budget(tokens=None, cost_micros=None)
    assert budget.tool_calls == 10_000


@each_row(
    "policy",
    [
        Policy(),
        Policy(
            budget=Budget(tokens=None, cost_micros=None),
            budget_ceiling=Budget(tokens=None, cost_micros=None),
        ),
        Policy(budget_ceiling=Budget(tokens=None, cost_micros=20_000_000)),
        Policy(budget=Budget(cost_micros=1), reviews=ReviewRules(on_expiry="stop")),
        Policy(tools=ToolRules(allowlist=(), always_ask=(), sql_arguments=())),
        Policy(tools=ToolRules(allowlist=("Read", "mcp_*"), grant_expires_s=1)),
    ],
    ids=["default", "unlimited", "ceiling", "changed", "no tools", "few tools"],
)
def test_a_policy_survives_its_document(policy: Policy) -> None:
    assert load_policy(dump_policy(policy)) == policy


@each_row("name", [field.name for field in fields(ContinueLimits)])
def test_null_never_erases_a_limit(name: str) -> None:
    """CG-D14: an undefined interval once meant no checkpoint and no stop at all."""
    assert f"continue.{name}" in problems({"continue": {name: None}})


@each_row(
    ("document", "path", "why"),
    [
        pytest.param([], "", "must be an object", id="no-object"),
        pytest.param({"budgte": {}}, "budgte", "unknown key", id="unknown-section"),
        pytest.param(
            {"continue": {"cooldown_ms": 1}},
            "continue.cooldown_ms",
            "unknown key",
            id="unknown-limit",
        ),
        pytest.param(
            {"continue": None}, "continue", "must be an object", id="null-section"
        ),
        pytest.param(
            {"runs": {1: 2}}, "runs.1", "unknown key", id="key-that-is-no-string"
        ),
        pytest.param(
            {"continue": {"rework_window": True}},
            "continue.rework_window",
            "must be a whole number",
            id="bool-for-integer",
        ),
        pytest.param(
            {"continue": {"rework_window": 20.0}},
            "continue.rework_window",
            "must be a whole number",
            id="float-for-integer",
        ),
        pytest.param(
            {"continue": {"rework_window": "20"}},
            "continue.rework_window",
            "must be a whole number",
            id="string-for-integer",
        ),
        pytest.param(
            {"continue": {"rework_window": 101}},
            "continue.rework_window",
            "must be from 1 to 100",
            id="window-wider-than-the-memory",
        ),
        pytest.param(
            {"continue": {"slope_window": 101}},
            "continue.slope_window",
            "must be from 3 to 100",
            id="slope-wider-than-the-memory",
        ),
        pytest.param(
            {"continue": {"slope_min_points": 2}},
            "continue.slope_min_points",
            "must be from 3 to 100",
            id="line-through-two-points",
        ),
        pytest.param(
            {"continue": {"repeat_limit": 1}},
            "continue.repeat_limit",
            "must be from 2 to 25",
            id="once-is-no-repetition",
        ),
        pytest.param(
            {"continue": {"min_coherence": True}},
            "continue.min_coherence",
            "must be a number",
            id="bool-for-number",
        ),
        pytest.param(
            {"continue": {"min_coherence": "0.4"}},
            "continue.min_coherence",
            "must be a number",
            id="string-for-number",
        ),
        pytest.param(
            {"continue": {"min_coherence": 1.5}},
            "continue.min_coherence",
            "must be from 0 to 1",
            id="number-out-of-range",
        ),
        pytest.param(
            {"continue": {"max_uncertainty": float("nan")}},
            "continue.max_uncertainty",
            "must be from 0 to 1",
            id="nan",
        ),
        pytest.param(
            {"budget": {"tokens": 0}},
            "budget.tokens",
            "must be from 1 to 1000000000000000",
            id="budget-of-nothing",
        ),
        pytest.param(
            {"budget": {"tokens": 6}, "budget_ceiling": {"tokens": 5}},
            "budget_ceiling.tokens",
            "budget.tokens is more than this",
            id="ceiling-below-the-budget",
        ),
        pytest.param(
            {"budget": {"cost_usd": None}, "budget_ceiling": {"cost_usd": "9.00"}},
            "budget_ceiling.cost_usd",
            "budget.cost_usd is more than this",
            id="ceiling-below-no-limit",
        ),
        pytest.param(
            {"budget": {"tokens": False}},
            "budget.tokens",
            "must be a whole number",
            id="bool-for-budget",
        ),
        pytest.param(
            {"budget": {"cost_usd": 10}},
            "budget.cost_usd",
            'must be a decimal string such as "10.00"',
            id="number-for-money",
        ),
        pytest.param(
            {"budget": {"cost_usd": "1e3"}},
            "budget.cost_usd",
            "not an amount such as 0.0121 with at most six decimals",
            id="exponent-for-money",
        ),
        pytest.param(
            {"budget": {"cost_usd": "0"}},
            "budget.cost_usd",
            "must be from 0.000001 to 1000000000.00",
            id="no-money",
        ),
        pytest.param(
            {"reviews": {"on_expiry": "approve"}},
            "reviews.on_expiry",
            "must be one of abort, stop",
            id="expiry-never-approves",
        ),
        pytest.param(
            {"reviews": {"expires_after_s": 0}},
            "reviews.expires_after_s",
            "must be from 1 to 31622400",
            id="review-that-never-opens",
        ),
        pytest.param(
            {"runs": {"abandon_after_s": 0}},
            "runs.abandon_after_s",
            "must be from 1 to 31622400",
            id="run-that-never-lives",
        ),
    ],
)
def test_what_is_wrong_is_named_with_its_path(
    document: object, path: str, why: str
) -> None:
    assert problems(document) == {path: why}


def test_all_problems_are_told_at_once() -> None:
    found = problems(
        {
            "budget": {"tokens": "many"},
            "continue": {"min_coherence": 2, "rework_window": 0, "typo": 1},
            "reviews": [],
            "tools": {"typo": 1, "patterns": [{"name": 5}]},
            "checks": {"max_resets": "3"},
            "gates": {"Not Kebab": {}, "tests": {"criteria": [""], "typo": 1}},
            "turns": {"max_retries": -1, "models": {"small": {"typo": 1}}},
            "extra": 1,
        }
    )
    assert set(found) == {
        "budget.tokens",
        "continue.min_coherence",
        "continue.rework_window",
        "continue.typo",
        "reviews",
        "tools.typo",
        "tools.patterns.0.name",
        "tools.patterns.0.pattern",
        "tools.patterns.0.message",
        "checks.max_resets",
        "gates.Not Kebab",
        "gates.tests.criteria.0.text",
        "gates.tests.typo",
        "turns.max_retries",
        "turns.models.small.typo",
        "extra",
    }


def test_the_error_reads_as_a_sentence() -> None:
    with pytest.raises(PolicyError, match=r"^runs\.x: unknown key; y: unknown key$"):
        load_policy({"runs": {"x": 1}, "y": 2})
