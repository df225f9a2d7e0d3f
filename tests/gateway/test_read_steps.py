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
from gateway.use_cases.step_payload import StepPayload
from ledger.models.packing import pack_text
from ledger.models.step_form import SEPARATOR, find_plain_step
from ledger.run_list.words import list_texts
from ledger.statistics.registry import CountedEntry
from tests.gateway.test_step_payload import STAMP, judged_runs, make_payload
from tests.guidance.core.builders import make_report, step
from tests.guidance.core.steps.test_properties import reports, steadily
from tests.support.examples import examples


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


TEXTS = st.text(
    st.characters(exclude_categories=["Cs"]), max_size=40
) | st.sampled_from(('"},"verdict":{', "\\", SEPARATOR, "\x01\x02", "é\n"))


def check(payload: StepPayload) -> None:
    text, kept = payload.write()
    for stored in (kept, pack_text(text), text):
        read, whole = read_step(stored), json.loads(text)
        assert count(read) == count(whole)
        assert read.get("running_ms") == whole.get("running_ms")
        assert list_texts("step.judged", read) == [*list_step_texts(whole)]


@steadily
@given(judged_runs())
def test_the_same_is_counted_and_found_whatever_was_decided(
    payloads: list[StepPayload],
) -> None:
    for payload in payloads:
        check(payload)


@examples(300)
@given(facts=reports, summary=TEXTS, signature=st.none() | TEXTS)
def test_the_same_is_counted_and_found_whatever_was_said(
    facts: dict[str, Any], summary: str, signature: str | None
) -> None:
    said = {**facts, "summary": summary, "signature": signature, "intent": summary}
    report = make_report(1, **said)
    check(StepPayload(report=report, verdict=step(report), policy=STAMP))


def test_a_step_that_goes_on_is_read_from_its_values_alone() -> None:
    _, kept = make_payload(summary="Read the log", tokens=7).write()

    plain = find_plain_step(kept)

    assert plain is not None
    assert (plain.summary, plain.tokens) == ('"Read the log"', 7)
    assert plain.running_ms == 5


@pytest.mark.parametrize("cut", [1, 20, 120])
def test_what_is_damaged_is_an_error(cut: int) -> None:
    text, kept = make_payload(summary="Read the log").write()
    for stored in (kept, pack_text(text), text):
        with pytest.raises(ValueError, match=r"."):
            read_step(stored[:-cut])
