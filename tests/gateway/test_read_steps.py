"""Figures and words are taken from a part of a step's payload: the same as from all of it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.searched import list_step_texts
from gateway.statistics import count_steps, read_step
from guidance.core.jcs import to_jcs
from ledger.run_list.words import list_texts
from ledger.statistics.registry import CountedEntry
from tests.support.examples import examples

# Texts that look like the payload that they stand in.
TRICKS = (
    '"report":{"tokens":1}',
    ',"verdict":{"checkpoint_due":false,"decision":"continue","delay_ms":0,"findings":[],',
    ',"running_ms":7,"budget_slope":9',
    '\\","report":{',
)
TEXTS = st.text() | st.sampled_from(TRICKS)
COUNTS = st.integers(0, 2**53 - 1)
REPORTS = st.fixed_dictionaries(
    {
        "checkpoint": st.booleans(),
        "cost_micros": COUNTS,
        "rework": st.booleans(),
        "signature": st.none() | TEXTS,
        "summary": st.none() | TEXTS,
        "tokens": COUNTS,
        "tool_calls": COUNTS,
    }
)
FINDINGS = st.sampled_from(
    ([], [{"decision": "pause", "gate": "rework", "message": "why"}])
)
VERDICTS = st.fixed_dictionaries(
    {
        "checkpoint_due": st.booleans(),
        "decision": st.sampled_from(("continue", "continue", "throttle", "pause")),
        "delay_ms": st.integers(0, 1),
        "findings": FINDINGS,
        "metrics": st.fixed_dictionaries(
            {
                "budget_remaining": st.just({"tokens": 5}),
                "budget_slope": st.floats(-1e9, 1e9),
                "budget_slope_significant": st.booleans(),
            }
        ),
        "recommended_action": TEXTS,
    }
)
PAYLOADS = st.fixed_dictionaries(
    {
        "engine": st.just(3),
        "policy": st.fixed_dictionaries({"name": TEXTS, "version": st.just(1)}),
        "report": REPORTS,
        "review": st.none() | st.just({"id": "r", "kind": "pause"}),
        "verdict": VERDICTS,
    },
    optional={
        "counted_calls": st.integers(0, 9),
        "running_ms": COUNTS,
        "shared": st.just({"below": {"tokens": 1}}),
        "waited_ms": COUNTS,
    },
)


def count(payload: dict[str, Any]) -> list[Any]:
    entry = CountedEntry(
        id=0,
        position=1,
        run_id=0,
        at=datetime(2026, 1, 2, tzinfo=UTC),
        type="step.judged",
        actor="agent:a",
        payload=payload,
    )
    return [(dict(each.totals), [*each.counts]) for each in count_steps([entry])]


@examples(500)
@given(PAYLOADS)
def test_the_same_is_counted(payload: dict[str, Any]) -> None:
    text = to_jcs(payload)
    read = read_step(text)
    assert count(read) == count(json.loads(text))
    assert read.get("running_ms") == payload.get("running_ms")


@examples(500)
@given(PAYLOADS)
def test_the_same_words_are_found(payload: dict[str, Any]) -> None:
    text = to_jcs(payload)
    found = list_texts("step.judged", read_step(text))
    assert found == [*list_step_texts(json.loads(text))]


GOES_ON = {
    "checkpoint_due": False,
    "decision": "continue",
    "delay_ms": 0,
    "findings": [],
    "metrics": {"budget_remaining": {"tokens": 5}, "budget_slope": 0.5},
}


def test_most_of_a_step_that_goes_on_is_not_read() -> None:
    payload = {
        "engine": 3,
        "report": {"tokens": 4},
        "running_ms": 9,
        "verdict": GOES_ON,
    }
    assert read_step(to_jcs(payload)) == {
        "report": {"tokens": 4},
        "running_ms": 9,
        "verdict": {
            "decision": "continue",
            "findings": (),
            "metrics": {"budget_slope": 0.5},
        },
    }


@pytest.mark.parametrize("cut", [5, 30, 120])
def test_what_is_no_json_is_an_error(cut: int) -> None:
    payload = {"engine": 3, "report": {"tokens": 4}, "verdict": GOES_ON}
    with pytest.raises(ValueError, match=r"."):
        read_step(to_jcs(payload)[:cut])
