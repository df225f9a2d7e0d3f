"""A run's memory is written from parts that are kept: the text is that of the whole."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guidance.core.canonical import to_canonical_json
from guidance.core.runs.allowances import Allowance
from guidance.core.runs.memory import CallTally, Memory
from guidance.core.runs.trace import StepTrace, Trace
from tests.guidance.core.builders import make_report

AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
COUNTS = st.integers(0, 2**53)
NOTES = [[["a"], ["ä"]], [[], []]]
TRACES = st.builds(
    StepTrace,
    tokens=COUNTS,
    rework=st.booleans(),
    signature=st.none() | st.text(max_size=64),
    intent=st.none() | st.sampled_from(("bug-fix", "docs")),
    tool_calls=COUNTS,
    failed_calls=st.none() | COUNTS,
    weight=st.floats(0, 1e6),
)
ALLOWANCE = Allowance(
    code="a",
    review="r",
    gate="uncertainty",
    up_to=0.9,
    steps=3,
    last_step=9,
    given_at=AT,
    ends_at=AT,
    by="alice",
)
MEMORIES = st.builds(
    Memory,
    steps=COUNTS,
    rework_steps=COUNTS,
    last_step=COUNTS,
    last_checkpoint_step=COUNTS,
    throttles=COUNTS,
    segment=COUNTS,
    trace=st.lists(TRACES, max_size=5).map(Trace),
    calls=st.builds(CallTally, granted=st.integers(0, 2), weight=st.floats(0, 9)),
    delay_ms=st.integers(0, 2),
    ignored_waits=st.integers(0, 2),
    allowances=st.sampled_from(((), (ALLOWANCE,))),
    plan=st.none(),
    looked=st.lists(st.text(max_size=9), max_size=2).map(tuple),
)
MORE = st.fixed_dictionaries(
    {},
    optional={
        "idle": st.just(True),
        "notes": st.sampled_from(NOTES),
        "observed": st.just(True),
        "throttled_at": st.just(AT.isoformat()),
        "turns": st.just({"turns": [[True, "x", None]], "retries": 1}),
    },
)


@given(MEMORIES, MORE)
def test_it_is_that_of_the_whole(memory: Memory, more: dict[str, Any]) -> None:
    whole = to_canonical_json({**memory.to_json(), **more})
    assert memory.write(more) == whole
    assert memory.write(more) == whole, "the second time from texts that were kept"
    assert Memory.from_json(json.loads(whole)) == memory


@given(TRACES)
def test_a_step_is_its_fields_in_their_order(step: StepTrace) -> None:
    assert step.to_json() == [getattr(step, name) for name in StepTrace._fields]
    assert json.loads(step.text) == step.to_json()


def test_steps_that_follow_are_written_behind_it() -> None:
    memory = Memory()
    for number in range(1, 6):
        memory = memory.add_step(make_report(number, signature=f'"{number}"'), kept=3)
        assert memory.write({}) == to_canonical_json(memory.to_json())
    assert len(memory.trace) == 3


def test_what_is_no_number_is_not_written() -> None:
    with pytest.raises((TypeError, ValueError)):
        Memory(segment=None).write({})  # type: ignore[arg-type]


@given(st.lists(TRACES, max_size=5).map(Trace), st.lists(TRACES), st.data())
def test_the_text_that_is_carried_on_is_that_of_all_steps(
    trace: Trace, more: list[StepTrace], data: st.DataObject
) -> None:
    for newest in more:
        kept = data.draw(st.integers(1, 6))
        if data.draw(st.booleans()):
            assert trace.text == ",".join(step.text for step in trace)
        expected = (*trace, newest)[-kept:]
        trace = trace.add_step(newest, kept=kept)
        assert trace == expected
    assert trace.text == ",".join(step.text for step in trace)
