"""Reports that cannot be true, and what a run remembers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from guidance.core.canonical import to_canonical_json
from guidance.core.runs.facts import FactError, StepReport
from guidance.core.runs.memory import CallTally, Memory, build_trace
from guidance.core.runs.trace import StepTrace
from guidance.core.runs.usage import Usage
from tests.guidance.core.builders import make_policy, make_report, make_trace, walk
from tests.support.rows import each_row


@each_row(
    ("field", "value"),
    [
        pytest.param("coherence", float("nan"), id="CG-45-nan"),
        pytest.param("coherence", 1.5, id="CG-45-above-one"),
        pytest.param("coherence", -0.1, id="coherence-below-zero"),
        pytest.param("uncertainty", float("nan"), id="uncertainty-nan"),
        pytest.param("uncertainty", float("inf"), id="uncertainty-infinite"),
        pytest.param("uncertainty", 1.5, id="uncertainty-above-one"),
        pytest.param("confidences", (0.5, 1.5), id="UN-02-refused-not-clamped"),
        pytest.param("confidences", (-0.2,), id="UN-02-below-zero"),
        pytest.param("confidences", (float("nan"),), id="confidence-nan"),
        pytest.param("tokens", -1, id="negative-tokens"),
        pytest.param("tool_calls", -1, id="negative-calls"),
        pytest.param("duration_ms", -1, id="negative-time"),
        pytest.param("cost_micros", -1, id="negative-cost"),
        pytest.param("failed_calls", -1, id="negative-failures"),
    ],
)
def test_a_figure_that_cannot_be_true_is_refused_by_name(
    field: str, value: Any
) -> None:
    with pytest.raises(FactError) as caught:
        make_report(**{field: value})
    assert caught.value.field == field


def test_steps_are_numbered_from_one() -> None:
    with pytest.raises(FactError, match="numbered from 1"):
        make_report(0)


def test_usage_is_summed_by_us() -> None:
    report = make_report(tokens=5, tool_calls=4, duration_ms=3, cost_micros=2)
    used = Usage(tokens=10, tool_calls=10, time_ms=10, cost_micros=10).add_step(report)
    assert used == Usage(tokens=15, tool_calls=14, time_ms=13, cost_micros=12)


def test_what_a_report_leaves_out_is_nothing_used_and_nothing_known() -> None:
    report = StepReport(number=1, tokens=0, tool_calls=0)
    assert Usage().add_step(report) == Usage()
    assert build_trace(report) == StepTrace(tokens=0)


def test_a_run_begins_with_nothing() -> None:
    *counts, trace = Memory().to_json().values()
    assert (counts, trace) == ([0] * 6, [])


def full_memory() -> Memory:
    step: dict[str, Any] = {
        "rework": True,
        "signature": "bash:pytest",
        "intent": "bug-fix",
        "failed_calls": 1,
    }
    return walk([step, {}, {"checkpoint": True}, {}])[-1].memory


def test_a_step_leaves_its_mark_in_the_memory() -> None:
    memory = full_memory()
    assert (memory.steps, memory.rework_steps, memory.last_step) == (4, 1, 4)
    assert (memory.last_checkpoint_step, memory.segment) == (3, 4)
    assert memory.trace[0] == StepTrace(
        tokens=1000,
        rework=True,
        signature="bash:pytest",
        intent="bug-fix",
        tool_calls=1,
        failed_calls=1,
        weight=0.0,
    )


def test_memory_comes_back_from_its_text_unchanged() -> None:
    memory = full_memory()
    text = to_canonical_json(memory.to_json())
    restored = Memory.from_json(json.loads(text))
    assert restored == memory
    assert to_canonical_json(restored.to_json()) == text


def test_an_approved_pause_begins_a_new_segment_and_keeps_the_rest() -> None:
    before = full_memory()
    after = before.start_segment()
    assert (after.segment, after.throttles) == (0, 0)
    assert after.trace == before.trace
    assert after.last_checkpoint_step == before.last_checkpoint_step
    assert (after.steps, after.rework_steps) == (before.steps, before.rework_steps)


def test_a_reopened_run_starts_fresh_with_its_totals() -> None:
    before = full_memory()
    after = before.start_fresh()
    assert (after.trace, after.segment, after.throttles) == ((), 0, 0)
    assert after.last_checkpoint_step == before.last_step == 4
    assert (after.steps, after.rework_steps) == (4, 1)


def test_a_checkpoint_counts_from_its_step_on() -> None:
    assert full_memory().set_checkpoint(4).last_checkpoint_step == 4


def test_an_older_checkpoint_does_not_undo_a_newer_one() -> None:
    assert full_memory().set_checkpoint(1).last_checkpoint_step == 3


def test_a_checkpoint_beyond_the_last_step_is_refused() -> None:
    """CG-47 R."""
    with pytest.raises(FactError, match="step 5 is later than the last one, 4"):
        full_memory().set_checkpoint(5)


def test_no_more_steps_are_remembered_than_the_gates_look_at() -> None:
    assert len(walk([{}] * 40)[-1].memory.trace) == 20
    wide = make_policy(rework_window=35)
    assert len(walk([{}] * 40, policy=wide)[-1].memory.trace) == 35
    long_cycles = make_policy(repeat_limit=8)
    assert len(walk([{}] * 40, policy=long_cycles)[-1].memory.trace) == 32


def test_the_newest_step_is_last() -> None:
    trace = walk([{"tokens": n} for n in range(1, 31)])[-1].memory.trace
    assert [step.tokens for step in trace] == list(range(11, 31))


@each_row(
    ("reported", "counted"),
    [
        pytest.param(0, 4, id="all-by-the-gateway"),
        pytest.param(4, 4, id="the-same-calls"),
        pytest.param(7, 7, id="some-around-the-gateway"),
    ],
)
def test_a_step_has_made_at_least_the_calls_that_the_gateway_let_through(
    reported: int, counted: int
) -> None:
    calls = CallTally(granted=4, settled=4, failed=3)
    trace = build_trace(make_report(tool_calls=reported), calls)
    assert (trace.tool_calls, trace.failed_calls) == (counted, 3)


def test_a_long_signature_is_remembered_by_its_digest() -> None:
    kept = build_trace(make_report(signature="x" * 64)).signature
    short = build_trace(make_report(signature="x" * 65)).signature
    assert kept == "x" * 64
    assert short is not None
    assert short.startswith("sha256:")
    assert short != build_trace(make_report(signature="x" * 66)).signature


def test_a_full_memory_stays_small() -> None:
    trace = make_trace(20, signature="bash:pytest -k login", intent="bug-fix")
    assert len(to_canonical_json(Memory(steps=20, trace=trace).to_json())) < 1500
