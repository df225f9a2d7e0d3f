"""Evaluation without a run; the gates' own rows stand in their files."""

from __future__ import annotations

from typing import Any

import pytest

from guidance.core.policy import Policy
from guidance.core.runs.facts import FactError
from guidance.core.runs.usage import Remaining
from guidance.core.steps.stateless import judge_continue
from tests.guidance.core.builders import ask, make_facts, make_policy
from tests.support.rows import each_row


@each_row(
    ("facts", "field", "message"),
    [
        pytest.param(
            {"step_number": 150, "last_checkpoint_step": 500},
            "last_checkpoint_step",
            "last_checkpoint_step 500 is more than step_number 150",
            id="CG-47",
        ),
        pytest.param(
            {"step_number": 3, "rework_count": 4},
            "rework_count",
            "rework_count 4 is more than step_number 3",
            id="more-rework-than-steps",
        ),
        pytest.param(
            {"coherence_score": float("nan")},
            "coherence_score",
            "coherence_score must be from 0 to 1",
            id="CG-45-nan",
        ),
        pytest.param(
            {"coherence_score": 1.5},
            "coherence_score",
            "coherence_score must be from 0 to 1",
            id="CG-45-above-one",
        ),
        pytest.param(
            {"uncertainty_score": -0.1},
            "uncertainty_score",
            "uncertainty_score must be from 0 to 1",
            id="uncertainty-below-zero",
        ),
        pytest.param(
            {"step_number": -1},
            "step_number",
            "step_number must not be negative",
            id="negative-step",
        ),
        pytest.param(
            {"recent_step_tokens": (5, -1)},
            "recent_step_tokens",
            "no step uses fewer than 0 tokens",
            id="negative-spend",
        ),
    ],
)
def test_nonsense_is_refused_by_name(
    facts: dict[str, Any], field: str, message: str
) -> None:
    with pytest.raises(FactError, match=message) as caught:
        ask(**facts)
    assert caught.value.field == field


def test_a_missing_score_is_not_evaluated() -> None:
    """CG-45 R."""
    verdict = ask(coherence_score=None, uncertainty_score=None)
    metrics = verdict.metrics
    assert (metrics.coherence, metrics.uncertainty) == (None, None)
    assert metrics.coherence_source == metrics.uncertainty_source == "unknown"
    assert metrics.not_evaluated == ("coherence", "uncertainty", "repetition", "slope")


def test_step_zero_has_no_rework_ratio() -> None:
    """CG-18."""
    verdict = ask(step_number=0, rework_count=0)
    assert verdict.metrics.rework_ratio == 0.0
    assert "rework" in verdict.metrics.not_evaluated


def test_the_policy_decides() -> None:
    strict = make_policy(min_coherence=0.9)
    assert judge_continue(policy=strict, facts=make_facts()).decision == "stop"
    assert judge_continue(policy=Policy(), facts=make_facts()).decision == "continue"


def test_the_answer_has_the_shape_of_a_steps_answer() -> None:
    answer: dict[str, Any] = ask(
        budget_remaining=Remaining(tokens=-5, tool_calls=2)
    ).to_json()
    assert set(answer) == {
        "decision",
        "checkpoint_due",
        "delay_ms",
        "findings",
        "metrics",
        "recommended_action",
    }
    assert answer["metrics"]["budget_remaining"] == {
        "tokens": 0,
        "tool_calls": 2,
        "time_ms": None,
        "cost_usd": None,
    }


def test_nothing_is_remembered_between_two_evaluations() -> None:
    growing = tuple(range(100, 1100, 100))
    delays = [ask(recent_step_tokens=growing).delay_ms for _ in range(3)]
    assert delays == [5_000] * 3
