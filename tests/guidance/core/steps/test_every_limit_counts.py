"""No limit is written down and never compared: each one flips an outcome."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from guidance.core.policy import ContinueLimits
from guidance.core.steps.judge_step import StepVerdict
from tests.guidance.core.builders import list_gates, make_policy, walk
from tests.support.rows import each_row

GROWING = [{"tokens": 1000 + 100 * n} for n in range(10)]

# limit: its other value, steps that tell the difference
CASES: dict[str, tuple[float, list[dict[str, Any]]]] = {
    "max_consecutive_steps": (30, [{}] * 30),
    "checkpoint_interval_steps": (10, [{}] * 10),
    "min_coherence": (0.6, [{"coherence": 0.5}]),
    "max_uncertainty": (0.4, [{"uncertainty": 0.5}]),
    "max_rework_ratio": (0.1, [{"rework": n == 0} for n in range(5)]),
    "rework_window": (10, [{}] * 16 + [{"rework": True}] * 4),
    "rework_min_steps": (2, [{"rework": True}, {}]),
    "max_budget_slope": (0.5, GROWING),
    "slope_window": (6, [{"tokens": 9000}] * 4 + GROWING[:6]),
    "slope_min_points": (5, GROWING[:5]),
    "throttle_base_ms": (1_000, GROWING),
    "throttle_max_ms": (30_000, GROWING),
    "throttle_ignore_limit": (1, GROWING[:7]),
    "repeat_limit": (2, [{"signature": "a"}] * 2),
}


def describe(verdict: StepVerdict) -> tuple[list[str], str, int]:
    return list_gates(verdict), verdict.decision, verdict.delay_ms


def test_every_limit_has_a_case() -> None:
    assert set(CASES) == {field.name for field in fields(ContinueLimits)}


@each_row("name", CASES)
def test_the_limit_changes_the_outcome(name: str) -> None:
    value, steps = CASES[name]
    waited = 0 if name == "throttle_ignore_limit" else None
    before = walk(steps, waited_ms=waited)[-1]
    policy = make_policy(**{name: value})
    after = walk(steps, policy=policy, waited_ms=waited)[-1]
    assert describe(before) != describe(after)
