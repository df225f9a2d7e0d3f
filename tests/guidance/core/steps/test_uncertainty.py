"""The uncertainty gate, and the score computed where none was reported."""

from __future__ import annotations

import pytest

from guidance.core.runs.trace import StepColumns, StepTrace
from guidance.core.steps import scores
from tests.guidance.core.builders import (
    ask,
    get_message,
    make_policy,
    make_report,
    make_trace,
    step,
    walk,
)
from tests.support.rows import each_row


def compute_uncertainty(
    trace: tuple[StepTrace, ...], *, repeated: bool | None
) -> tuple[float, scores.UncertaintyParts] | None:
    steps = StepColumns.from_trace(trace)
    return scores.compute_uncertainty(steps, confidences=(), repeated=repeated)


@each_row(
    ("score", "decision"),
    [
        pytest.param(0.9, "pause", id="CG-19"),
        pytest.param(0.801, "pause", id="just-over"),
        pytest.param(0.8, "continue", id="CG-20"),
        pytest.param(1.0, "pause", id="CG-21"),
        pytest.param(0.0, "continue", id="certain"),
    ],
)
def test_a_reported_score_over_the_limit_pauses(score: float, decision: str) -> None:
    assert ask(uncertainty_score=score).decision == decision
    assert step(make_report(uncertainty=score)).decision == decision


def test_the_message_names_score_and_limit() -> None:
    assert get_message(step(make_report(uncertainty=0.86)), "uncertainty") == (
        "Uncertainty 0.86, over the 0.80 limit"
    )
    assert get_message(step(make_report(uncertainty=0.8004)), "uncertainty") == (
        "Uncertainty 0.8004, over the 0.80 limit"
    )


@each_row(
    ("confidences", "value", "decision"),
    [
        pytest.param((0.9, 0.8, 0.7), 0.204, "continue", id="UN-13-UN-19"),
        pytest.param((0.9, 0.9, 0.1), 0.567, "continue", id="UN-20-one-doubt"),
        pytest.param((0.2, 0.2, 0.15), 0.818, "pause", id="UN-20-all-doubt"),
        pytest.param((0.99, 0.98), 0.015, "continue", id="UN-18"),
        pytest.param((1.0,), 0.0, "continue", id="sure"),
        pytest.param((0.0, 1.0), 1.0, "pause", id="one-of-zero"),
        pytest.param((1e-300,) * 50, 1.0, "pause", id="tiny-does-not-underflow"),
    ],
)
def test_confidences_of_the_step_are_turned_into_uncertainty(
    confidences: tuple[float, ...], value: float, decision: str
) -> None:
    verdict = step(make_report(confidences=confidences))
    assert verdict.metrics.uncertainty == pytest.approx(value, abs=0.0005)
    assert verdict.metrics.uncertainty_source == "computed"
    assert verdict.decision == decision


@each_row("count", range(1, 21))
def test_confidences_that_mean_exactly_the_limit_do_not_pause(count: int) -> None:
    verdict = step(make_report(confidences=(0.2,) * count))
    assert verdict.metrics.uncertainty == 0.8
    assert verdict.decision == "continue"


def test_the_parts_are_kept_for_the_reviewer() -> None:
    metrics = step(make_report(confidences=(0.25,))).metrics.to_json()
    assert metrics["uncertainty_parts"] == {
        "confidence": 0.25,
        "failed_calls": None,
        "repeated": None,
    }


def test_nothing_observable_is_unknown_and_does_not_pause() -> None:
    """UN-17 R: neither 0 nor 1 (UN-14), however many steps went by."""
    verdict = walk([{}] * 10)[-1]
    metrics = verdict.metrics
    assert verdict.decision == "continue"
    assert (metrics.uncertainty, metrics.uncertainty_level) == (None, None)
    assert metrics.uncertainty_source == "unknown"
    assert "uncertainty" in metrics.not_evaluated


def test_of_a_reported_score_and_confidences_the_more_uncertain_counts() -> None:
    metrics = step(make_report(uncertainty=0.1, confidences=(0.1,))).metrics
    assert (metrics.uncertainty, metrics.uncertainty_source) == (0.9, "computed")
    metrics = step(make_report(uncertainty=0.1, confidences=(1.0,))).metrics
    assert (metrics.uncertainty, metrics.uncertainty_source) == (0.1, "reported")


def test_failed_calls_are_observed_over_the_last_steps() -> None:
    calm, wild = {"tool_calls": 4, "failed_calls": 0}, {"tool_calls": 1}
    verdicts = walk([calm, calm, calm, calm, wild | {"failed_calls": 1}])
    assert verdicts[-2].metrics.uncertainty is None
    assert verdicts[-1].metrics.uncertainty == 1 / 17


def test_steps_that_do_not_tell_of_failures_do_not_dilute_them() -> None:
    untold = make_trace(4, tool_calls=10)
    told = make_trace(2, tool_calls=4, failed_calls=3)
    computed = compute_uncertainty(untold + told, repeated=None)
    assert computed is not None
    assert computed[0] == 0.75


def test_without_any_call_there_is_no_share_of_failures() -> None:
    quiet = make_trace(6, tool_calls=0, failed_calls=0)
    assert compute_uncertainty(quiet, repeated=None) is None


def test_more_failures_than_calls_count_as_all() -> None:
    odd = make_trace(6, tool_calls=1, failed_calls=3)
    computed = compute_uncertainty(odd, repeated=None)
    assert computed is not None
    assert computed[0] == 1.0


def test_only_the_last_twenty_steps_are_observed() -> None:
    old = make_trace(5, tool_calls=10, failed_calls=10)
    new = make_trace(20, tool_calls=1, failed_calls=0)
    computed = compute_uncertainty(old + new, repeated=None)
    assert computed is not None
    assert computed[0] == 0.0


@pytest.mark.parametrize(
    ("repeated", "value"), [(False, 0.25), (True, 0.75)], ids=["new", "repeated"]
)
def test_what_can_be_observed_is_averaged(repeated: bool, value: float) -> None:
    trace = make_trace(6, tool_calls=2, failed_calls=1)
    computed = compute_uncertainty(trace, repeated=repeated)
    assert computed is not None
    assert computed[0] == value
    assert computed[1].to_json() == {
        "confidence": None,
        "failed_calls": 0.5,
        "repeated": float(repeated),
    }


def test_running_the_same_step_twice_is_no_uncertainty_yet() -> None:
    """Repetition begins where the repetition gate sees it, not at the second time."""
    steps = [{"signature": f"step {n}"} for n in range(5)] + [{"signature": "step 4"}]
    assert walk(steps)[-1].metrics.uncertainty == 0.0


def test_from_the_repetition_on_it_is_uncertain_too() -> None:
    steps = [{"signature": f"step {n}"} for n in range(5)] + [{"signature": "x"}] * 3
    second, third = walk(steps)[-2:]
    assert (second.metrics.uncertainty, third.metrics.uncertainty) == (0.0, 1.0)


def test_many_failed_calls_pause() -> None:
    verdict = walk([{"tool_calls": 10, "failed_calls": 9}] * 5)[-1]
    assert verdict.decision == "pause"
    assert (
        get_message(verdict, "uncertainty") == "Uncertainty 0.90, over the 0.80 limit"
    )


def test_failures_before_an_approved_pause_are_not_held_against_the_run() -> None:
    failing = {"tool_calls": 10, "failed_calls": 9}
    memory = walk([failing] * 5)[-1].memory.start_segment()
    assert walk([failing] * 4, memory=memory)[-1].decision == "continue"
    assert walk([failing] * 5, memory=memory)[-1].decision == "pause"


def test_the_limit_is_the_policys() -> None:
    policy = make_policy(max_uncertainty=0.5)
    assert step(make_report(uncertainty=0.51), policy=policy).decision == "pause"
