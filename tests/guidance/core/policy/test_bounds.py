"""Every figure of a policy has bounds, and limits may not contradict each other."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from guidance.core.policy import (
    ContinueLimits,
    load_policy,
)
from tests.guidance.core.policy.dumps import dump_policy
from tests.guidance.core.policy.refusals import problems
from tests.support.rows import each_row

DAY_MS = 86_400_000
YEAR_S = 31_622_400
# What else must change for the bound itself to be sound.
BOUNDS: dict[str, tuple[float, float, dict[str, float]]] = {
    "max_consecutive_steps": (1, 1_000_000, {"checkpoint_interval_steps": 1}),
    "checkpoint_interval_steps": (1, 1_000_000, {"max_consecutive_steps": 1_000_000}),
    "min_coherence": (0, 1, {}),
    "max_uncertainty": (0, 1, {}),
    "max_rework_ratio": (0, 1, {}),
    "rework_window": (1, 100, {"rework_min_steps": 1}),
    "rework_min_steps": (1, 100, {"rework_window": 100}),
    "max_budget_slope": (0, 1, {}),
    "slope_window": (3, 100, {"slope_min_points": 3}),
    "slope_min_points": (3, 100, {"slope_window": 100}),
    "throttle_base_ms": (1, DAY_MS, {"throttle_max_ms": DAY_MS}),
    "throttle_max_ms": (1, DAY_MS, {"throttle_base_ms": 1}),
    "throttle_ignore_limit": (1, 1_000_000, {}),
    "repeat_limit": (2, 25, {}),
}


@each_row("name", [field.name for field in fields(ContinueLimits)])
def test_a_limit_may_reach_its_bounds_and_not_pass_them(name: str) -> None:
    low, high, others = BOUNDS[name]
    for bound in (low, high):
        limits = load_policy({"continue": {**others, name: bound}}).continue_limits
        assert getattr(limits, name) == bound
    for beyond in (low - 1, high + 1):
        assert f"continue.{name}" in problems({"continue": {**others, name: beyond}})


@each_row(
    ("section", "name", "low", "high", "below", "above"),
    [
        ("budget", "tokens", 1, 10**15, 0, 10**15 + 1),
        ("budget", "tool_calls", 1, 10**15, 0, 10**15 + 1),
        ("budget", "time_ms", 1, 10**15, 0, 10**15 + 1),
        (
            "budget",
            "cost_usd",
            "0.000001",
            "1000000000.00",
            "0.00",
            "1000000000.000001",
        ),
        ("reviews", "expires_after_s", 1, YEAR_S, 0, YEAR_S + 1),
        ("reviews", "claim_lease_s", 30, 86_400, 29, 86_401),
        ("runs", "abandon_after_s", 1, YEAR_S, 0, YEAR_S + 1),
        ("tools", "max_diff_lines", 0, 1_000_000, -1, 1_000_001),
        ("tools", "grant_expires_s", 1, 86_400, 0, 86_401),
        ("checks", "max_resets", 0, 100, -1, 101),
        ("four_eyes", "approvals", 2, 10, 1, 11),
        ("turns", "threshold", 40, 101, 0, 102),
        ("turns", "warn_from", 0, 60, -1, 102),
        ("turns", "max_retries", 0, 100, -1, 101),
    ],
)
def test_so_may_every_other_figure(
    section: str, name: str, low: object, high: object, below: object, above: object
) -> None:
    for bound in (low, high):
        document: dict[str, Any] = dump_policy(load_policy({section: {name: bound}}))
        assert document[section][name] == bound
    for beyond in (below, above):
        assert f"{section}.{name}" in problems({section: {name: beyond}})


@each_row(
    ("small", "large", "changes"),
    [
        (
            "checkpoint_interval_steps",
            "max_consecutive_steps",
            {"max_consecutive_steps": 24},
        ),
        ("rework_min_steps", "rework_window", {"rework_window": 4}),
        ("slope_min_points", "slope_window", {"slope_min_points": 11}),
        ("throttle_base_ms", "throttle_max_ms", {"throttle_max_ms": 4999}),
    ],
)
def test_limits_that_contradict_each_other_are_refused(
    small: str, large: str, changes: dict[str, int]
) -> None:
    ((path, why),) = problems({"continue": changes}).items()
    assert path == f"continue.{small}"
    assert large in why
