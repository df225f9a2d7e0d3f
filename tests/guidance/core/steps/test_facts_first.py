"""What the server sees counts; what an agent says of itself can only make it worse."""

from __future__ import annotations

from typing import Any

import pytest

from guidance.core.runs.memory import CallTally, Memory, build_trace
from guidance.core.steps.judge_step import StepVerdict
from tests.guidance.core.builders import get_message, make_report, make_trace, step
from tests.support.rows import each_row

# Every step redid earlier work after a blocked call: a coherence of 0.30 with this step.
WORN = {"rework": True, "weight": 1.0}
# All calls failed: an uncertainty of 1.
FAILING = {"tool_calls": 1, "failed_calls": 1}


def judge(trace: dict[str, Any], **report: Any) -> StepVerdict:
    memory = Memory(steps=9, last_step=9, segment=9, trace=make_trace(9, **trace))
    return step(make_report(10, **report), memory=memory)


@each_row(
    ("trace", "said", "counts", "seen", "source"),
    [
        pytest.param(WORN, 1.0, 0.37, 0.37, "computed", id="rosy"),
        pytest.param(WORN, 0.2, 0.2, 0.37, "reported", id="worse than it looks"),
        pytest.param({}, 0.9, 0.9, 1.0, "reported", id="modest"),
        pytest.param({}, 1.0, 1.0, 1.0, "reported", id="both the same"),
        pytest.param(WORN, None, 0.37, 0.37, "computed", id="silent"),
    ],
)
def test_of_two_coherences_the_lower_counts(
    trace: dict[str, Any], said: float | None, counts: float, seen: float, source: str
) -> None:
    metrics = judge(trace, coherence=said).metrics
    assert metrics.coherence == pytest.approx(counts)
    assert metrics.coherence_source == source
    document = metrics.to_json()
    assert document["coherence_reported"] == said
    assert document["coherence_computed"] == pytest.approx(seen)
    # Where the figure comes from is shown whichever of them counts.
    assert document["coherence_parts"] is not None


@each_row(
    ("said", "counts", "source"),
    [(0.0, 1.0, "computed"), (1.0, 1.0, "reported"), (None, 1.0, "computed")],
)
def test_of_two_uncertainties_the_higher_counts(
    said: float | None, counts: float, source: str
) -> None:
    metrics = judge(FAILING, uncertainty=said, **FAILING).metrics
    assert (metrics.uncertainty, metrics.uncertainty_source) == (counts, source)
    document = metrics.to_json()
    assert document["uncertainty_reported"] == said
    assert document["uncertainty_computed"] == 1.0


def test_a_rosy_score_does_not_keep_a_run_going() -> None:
    verdict = judge(WORN, coherence=1.0)
    assert verdict.decision == "stop"
    assert get_message(verdict, "coherence") == (
        "Coherence 0.37, under the 0.40 floor: the agent says 1.00, we see 0.37"
    )
    unsure = judge(FAILING, uncertainty=0.0, **FAILING)
    assert unsure.decision == "pause"
    assert get_message(unsure, "uncertainty") == (
        "Uncertainty 1.00, over the 0.80 limit: the agent says 0.00, we see 1.00"
    )


def test_confidences_hide_no_failed_calls() -> None:
    metrics = judge(FAILING, confidences=(1.0, 1.0), **FAILING).metrics
    assert (metrics.uncertainty, metrics.uncertainty_source) == (1.0, "computed")
    parts = metrics.uncertainty_parts
    assert parts is not None
    assert (parts.confidence, parts.failed_calls) == (1.0, 1.0)


@each_row(
    ("said", "seen", "kept"),
    [(0, 3, 3), (None, 3, 3), (5, 3, 5), (0, 0, 0)],
)
def test_failures_that_the_gateway_saw_cannot_be_denied(
    said: int | None, seen: int, kept: int
) -> None:
    report = make_report(tool_calls=9, failed_calls=said)
    trace = build_trace(report, CallTally(granted=4, settled=4, failed=seen))
    assert trace.failed_calls == kept


def test_with_too_few_steps_to_see_anything_the_agents_word_counts() -> None:
    document = step(make_report(coherence=0.9, uncertainty=0.1)).metrics.to_json()
    assert (document["coherence"], document["uncertainty"]) == (0.9, 0.1)
    assert document["coherence_computed"] is None
    assert document["uncertainty_computed"] is None
