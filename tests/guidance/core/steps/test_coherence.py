"""The coherence gate, and the score computed where none was reported."""

from __future__ import annotations

from typing import Any

import pytest

from guidance.core.runs.memory import Memory
from guidance.core.runs.trace import StepColumns, StepTrace, Trace
from guidance.core.steps import scores
from guidance.core.vocabulary import CALL_WEIGHTS
from tests.guidance.core.builders import (
    ask,
    get_message,
    list_gates,
    make_policy,
    make_report,
    make_trace,
    step,
    walk,
)
from tests.support.rows import each_row

BLOCK = CALL_WEIGHTS["block"]


def compute_coherence(
    trace: tuple[StepTrace, ...],
) -> tuple[float, scores.CoherenceParts] | None:
    return scores.compute_coherence(StepColumns.from_trace(trace))


@each_row(
    ("score", "decision"),
    [
        pytest.param(0.2, "stop", id="CG-04"),
        pytest.param(0.39, "stop", id="CG-05"),
        pytest.param(0.3999, "stop", id="just-under"),
        pytest.param(0.4, "continue", id="CG-06"),
        pytest.param(0.0, "stop", id="CG-07"),
        pytest.param(1.0, "continue", id="perfect"),
    ],
)
def test_a_reported_score_under_the_floor_stops(score: float, decision: str) -> None:
    assert ask(coherence_score=score).decision == decision
    assert step(make_report(coherence=score)).decision == decision


def test_right_after_a_good_step_a_bad_one_stops() -> None:
    """CG-35: no cooldown lets it through."""
    good, bad = walk([{"coherence": 0.9}, {"coherence": 0.1}])
    assert (good.decision, bad.decision) == ("continue", "stop")


def test_the_message_names_score_and_floor() -> None:
    verdict = step(make_report(coherence=0.31))
    assert get_message(verdict, "coherence") == "Coherence 0.31, under the 0.40 floor"


def test_a_score_that_rounds_to_the_floor_is_shown_with_more_digits() -> None:
    verdict = step(make_report(coherence=0.3999))
    assert get_message(verdict, "coherence") == "Coherence 0.3999, under the 0.40 floor"


def test_a_missing_score_is_not_evaluated_and_never_passed() -> None:
    """CG-45 R."""
    verdict = step(make_report())
    metrics = verdict.metrics
    assert (metrics.coherence, metrics.coherence_level) == (None, None)
    assert metrics.coherence_source == "unknown"
    assert "coherence" in metrics.not_evaluated


def test_while_nothing_can_be_computed_a_reported_score_is_taken_as_it_is() -> None:
    metrics = walk([{"rework": True}] * 3 + [{"coherence": 0.9}])[-1].metrics
    assert (metrics.coherence, metrics.coherence_source) == (0.9, "reported")
    assert metrics.coherence_parts is None


def test_three_steps_are_too_few_to_compute_a_score() -> None:
    """CO-19 R."""
    bad = make_trace(3, rework=True, weight=BLOCK)
    assert compute_coherence(bad) is None
    last = step(make_report(3), memory=Memory(steps=2, trace=Trace(bad[:2]), segment=2))
    assert "coherence" not in list_gates(last)
    assert "coherence" in last.metrics.not_evaluated


def test_from_the_fifth_step_on_the_score_is_computed() -> None:
    fourth, fifth = walk([{}] * 5)[-2:]
    assert fourth.metrics.coherence_source == "unknown"
    assert (fifth.metrics.coherence, fifth.metrics.coherence_source) == (
        1.0,
        "computed",
    )
    assert "coherence" not in fifth.metrics.not_evaluated


def make_mixed_trace(
    steps: int, *, blocks: int = 0, rework: int = 0, changes: int = 0
) -> Trace:
    """A trace whose last steps change intent, with the sums asked for."""
    return Trace(
        StepTrace(
            tokens=1,
            rework=n < rework,
            weight=BLOCK * (blocks // steps + (n < blocks % steps)),
            intent=f"intent {max(0, n - (steps - 1 - changes))}",
        )
        for n in range(steps)
    )


@each_row(
    ("trace", "parts", "value"),
    [
        pytest.param(make_mixed_trace(10), (1, 1, 1), 1.0, id="CO-01"),
        pytest.param(
            make_mixed_trace(10, blocks=5, rework=5), (0.5, 0.5, 1), 0.65, id="CO-02"
        ),
        pytest.param(
            make_mixed_trace(10, blocks=10, rework=10, changes=9),
            (0, 0, 0),
            0.0,
            id="CO-03",
        ),
        pytest.param(make_mixed_trace(10, blocks=20), (0, 1, 1), 0.6, id="CO-04"),
        pytest.param(make_mixed_trace(10, rework=10), (1, 0, 1), 0.7, id="CO-05"),
        pytest.param(
            make_mixed_trace(20, blocks=2, rework=4, changes=1),
            (0.9, 0.8, 18 / 19),
            0.884,
            id="CO-17",
        ),
        pytest.param(
            make_mixed_trace(10, blocks=10, rework=8), (0, 0.2, 1), 0.36, id="CO-18"
        ),
        pytest.param(
            make_mixed_trace(10, rework=10, changes=9), (1, 0, 0), 0.4, id="0.4-passes"
        ),
    ],
)
def test_the_computed_score_and_its_parts(
    trace: tuple[StepTrace, ...], parts: tuple[float, ...], value: float
) -> None:
    computed = compute_coherence(trace)
    assert computed is not None
    assert computed[0] == pytest.approx(value, abs=0.0005)
    assert computed[1] == pytest.approx(parts)


def test_only_the_last_twenty_steps_count() -> None:
    """CO-07."""
    old = make_trace(5, rework=True, weight=BLOCK)
    assert compute_coherence(old + make_mixed_trace(20)) == compute_coherence(
        make_mixed_trace(20)
    )


def test_alternating_intents_are_drift_although_only_two_are_seen() -> None:
    """CO-15 R."""
    intents = ("bug-fix", "docs")
    trace = tuple(StepTrace(tokens=1, intent=intents[n % 2]) for n in range(20))
    computed = compute_coherence(trace)
    assert computed is not None
    assert computed[1].drift == 0
    assert computed[0] == 0.7


def test_a_step_without_an_intent_is_no_change_of_it() -> None:
    trace = tuple(
        StepTrace(tokens=1, intent=intent)
        for intent in ("docs", None, "docs", None, "docs", "feature")
    )
    computed = compute_coherence(trace)
    assert computed is not None
    assert computed[1].drift == 0.8


@each_row(
    ("decision", "weight"),
    [("block", 1.0), ("require-confirmation", 0.5), ("warn", 0.25), ("allow", 0.0)],
)
def test_findings_on_calls_weigh_by_their_decision(
    decision: str, weight: float
) -> None:
    computed = compute_coherence(make_trace(10, weight=CALL_WEIGHTS[decision]))
    assert computed is not None
    assert computed[1].violations == 1 - weight


def worn_out(steps: int) -> dict[str, Any]:
    return {
        "steps": steps,
        "last_step": steps,
        "segment": steps,
        "trace": make_mixed_trace(steps, blocks=steps, rework=steps),
    }


def test_a_computed_score_under_the_floor_stops() -> None:
    """CO-18 R, in a run: nine bad steps before it outweigh this one."""
    verdict = step(make_report(20), memory=Memory(**worn_out(19)))
    assert verdict.decision == "stop"
    assert verdict.metrics.coherence_source == "computed"
    assert verdict.metrics.coherence_level == "critical"
    parts = verdict.metrics.to_json()["coherence_parts"]
    assert parts == {"violations": 0.05, "rework": 0.05, "drift": 1.0}


def test_exactly_the_floor_does_not_stop_however_it_adds_up() -> None:
    """All rework, an intent changed at every step: 0.4 + 0 + 0."""
    intents = ("docs", "testing")
    steps = [{"rework": True, "intent": intents[n % 2]} for n in range(20)]
    verdict = walk(steps)[-1]
    assert verdict.metrics.coherence == 0.4
    assert "coherence" not in list_gates(verdict)


def test_reaching_a_floor_by_other_sums_does_not_stop_either() -> None:
    """0.4 · 1/4 + 0.3 · 1 + 0.3 · 0 is a little under 0.4 when added in floats."""
    trace = make_mixed_trace(8, blocks=6, changes=7)
    computed = compute_coherence(trace)
    assert computed is not None
    assert computed[0] == 0.4


def test_the_floor_is_the_policys() -> None:
    policy = make_policy(min_coherence=0.9)
    assert step(make_report(coherence=0.89), policy=policy).decision == "stop"


def test_a_new_segment_does_not_make_the_past_coherent() -> None:
    memory = Memory(**worn_out(19)).start_segment()
    assert step(make_report(20), memory=memory).decision == "stop"


def test_a_reopened_run_is_unknown_again() -> None:
    memory = Memory(**worn_out(19)).start_fresh()
    verdict = step(make_report(20), memory=memory)
    assert verdict.decision == "continue"
    assert verdict.metrics.coherence is None
