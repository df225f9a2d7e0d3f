"""Scores and cycles that are read from columns are those of going from step to step."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from guidance.core.runs.measures import CYCLE_LIMIT, find_cycle
from guidance.core.runs.trace import StepColumns, StepTrace
from guidance.core.steps.scores import (
    SCORE_MIN_STEPS,
    SCORE_WINDOW,
    CoherenceParts,
    UncertaintyParts,
    compute_coherence,
    compute_uncertainty,
)
from tests.support.examples import examples

COUNTS = st.integers(0, 5) | st.integers(0, 10**12)
TRACES = st.lists(
    st.builds(
        StepTrace,
        tokens=COUNTS,
        rework=st.booleans(),
        signature=st.none() | st.sampled_from("ab"),
        intent=st.none() | st.sampled_from(("docs", "debug")),
        tool_calls=COUNTS,
        failed_calls=st.none() | COUNTS,
        weight=st.integers(0, 8).map(lambda quarters: quarters / 4),
    ),
    min_size=1,
    max_size=25,
)


@given(TRACES)
def test_columns_are_in_the_order_of_the_fields(trace: list[StepTrace]) -> None:
    columns = StepColumns.from_trace(trace)
    assert StepColumns._fields == StepTrace._fields
    for name in StepColumns._fields:
        assert getattr(columns, name) == tuple(getattr(step, name) for step in trace)


def compute_coherence_by_steps(
    trace: list[StepTrace],
) -> tuple[float, CoherenceParts] | None:
    steps = trace[-SCORE_WINDOW:]
    n = len(steps)
    if n < SCORE_MIN_STEPS:
        return None
    rework = changes = 0
    weight = 0.0
    before: str | None = None
    for step in steps:
        weight += step.weight
        rework += step.rework
        if step.intent is not None:
            changes += before is not None and step.intent != before
            before = step.intent
    clean = n - min(n, weight)
    gaps = n - 1
    value = ((4 * clean + 3 * (n - rework)) * gaps + 3 * n * (gaps - changes)) / (
        10 * n * gaps
    )
    return value, CoherenceParts(
        violations=clean / n, rework=(n - rework) / n, drift=(gaps - changes) / gaps
    )


@examples(300)
@given(TRACES)
def test_coherence(trace: list[StepTrace]) -> None:
    computed = compute_coherence(StepColumns.from_trace(trace))
    assert repr(computed) == repr(compute_coherence_by_steps(trace))


def compute_uncertainty_by_steps(
    trace: list[StepTrace], *, confidence: float | None, repeated: bool | None
) -> tuple[float, UncertaintyParts] | None:
    known = [] if confidence is None else [round(1 - confidence, 12)]
    share = flag = None
    steps = trace[-SCORE_WINDOW:]
    if len(steps) >= SCORE_MIN_STEPS:
        failed = calls = 0
        for step in steps:
            if step.failed_calls is not None:
                failed += step.failed_calls
                calls += step.tool_calls
        share = min(failed, calls) / calls if calls else None
        flag = None if repeated is None else float(repeated)
        seen = [each for each in (share, flag) if each is not None]
        known += [sum(seen) / len(seen)] if seen else []
    if not known:
        return None
    return max(known), UncertaintyParts(confidence, share, flag)


@examples(300)
@given(TRACES, st.none() | st.booleans(), st.none() | st.sampled_from([0.0, 0.5, 1.0]))
def test_uncertainty(
    trace: list[StepTrace], repeated: bool | None, confidence: float | None
) -> None:
    steps = StepColumns.from_trace(trace)
    said = () if confidence is None else (confidence,)
    computed = compute_uncertainty(steps, confidences=said, repeated=repeated)
    plain = compute_uncertainty_by_steps(
        trace, confidence=confidence, repeated=repeated
    )
    assert repr(computed) == repr(plain)


def find_cycle_by_steps(trace: list[StepTrace], *, times: int) -> int | None:
    if trace[-1].signature is None:
        return None
    for length in range(1, CYCLE_LIMIT + 1):
        last = [step.signature for step in trace[-length * times :]]
        whole = len(last) == length * times and None not in last
        if whole and last == last[:length] * times:
            return length
    return 0


@examples(300)
@given(TRACES, st.integers(2, 6))
def test_cycles(trace: list[StepTrace], times: int) -> None:
    signatures = StepColumns.from_trace(trace).signature
    assert find_cycle(signatures, times=times) == find_cycle_by_steps(
        trace, times=times
    )
