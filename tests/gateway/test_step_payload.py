"""The entry of a step and its answer, written as texts: those of their documents, and read
again from the form in which they are kept."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.use_cases.answers.steps import VERDICT_FIELDS, write_decision_answer
from gateway.use_cases.step_payload import StepPayload
from guidance.core.canonical import hash_text
from guidance.core.jcs import to_jcs
from guidance.core.policy import Policy
from guidance.selectors import LoadedPolicy
from ledger.chain import SealedEntry
from ledger.models import step_form
from ledger.models.packing import MARK, pack_text, unpack_text
from ledger.models.step_form import (
    COUNT,
    SEPARATOR,
    STEP_MARK,
    USUAL,
    shorten_policy,
)
from tests.guidance.core.builders import PASSED, make_report, step, walk
from tests.guidance.core.steps.test_properties import policies, reports, runs, steadily
from tests.support.examples import examples

pytestmark = pytest.mark.once("writes texts, not SQL")

RUN = "019a1b2c-3d4e-7f60-8abc-def012345678"
REVIEW = {"id": "019a1b2c-3d4e-7f60-8abc-def012345679", "kind": "pause"}
WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
COUNTS = st.integers(0, 2**53 - 1)
MORE = st.fixed_dictionaries(
    {},
    optional={
        "counted_calls": COUNTS,
        "review_limit": st.just({"count": 3, "limit": 3, "scope": "agent"}),
        "running_ms": COUNTS,
        "shared": st.just({"reached": [PASSED.to_json()], "below": {"tokens": 1.0}}),
        "violations": st.just([{"rule": "x,%s", "severity": "high"}]),
        "waited_ms": COUNTS,
    },
)
STAMPS = st.builds(
    LoadedPolicy,
    id=st.just(1),
    name=WORDS,
    version=st.integers(1, 10**9),
    hash=st.binary(min_size=32, max_size=32).map(lambda data: f"sha256:{data.hex()}")
    | WORDS,
    policy=st.just(Policy()),
)
STAMP = LoadedPolicy(
    id=1, name="default", version=3, hash=hash_text("a policy"), policy=Policy()
)


def build_entry(text: str, kept: str) -> SealedEntry:
    return SealedEntry(
        *(1, 1, 2, 7, datetime(2026, 1, 2, tzinfo=UTC), "step.judged", "agent:a"),
        *(text, "0" * 64, "1" * 64, "f" * 64, 1, "continue", kept),
    )


def check(payload: StepPayload) -> str:
    """All that must hold of it; returns the form in which it is kept."""
    document = payload.to_json()
    text, kept = payload.write()
    assert text == to_jcs(document)
    assert unpack_text(kept) == text
    entry = build_entry(text, kept)
    answer = payload.write_answer(entry, run=RUN, project_slug="p", notes=())
    assert answer == write_decision_answer(
        run=RUN,
        project_slug="p",
        payload=document,
        receipt=entry.build_receipt(),
    )
    return kept


@st.composite
def judged_runs(draw: st.DrawFn) -> list[StepPayload]:
    """The payloads of all steps of a run, by any policy."""
    steps, policy, more = draw(runs), draw(policies), draw(MORE)
    waited_ms = draw(st.none() | st.just(0))
    verdicts = walk(steps, policy=policy, budget=policy.budget, waited_ms=waited_ms)
    return [
        StepPayload(
            report=make_report(number, **facts),
            verdict=verdict,
            policy=STAMP,
            more=more,
        )
        for number, (facts, verdict) in enumerate(zip(steps, verdicts, strict=True), 1)
    ]


@steadily
@given(judged_runs())
def test_every_verdict_is_written_as_its_document(payloads: list[StepPayload]) -> None:
    for payload in payloads:
        check(payload)


@examples(200)
@given(
    facts=reports,
    summary=WORDS,
    signature=st.none() | WORDS,
    stamp=STAMPS,
    review=st.sampled_from([None, REVIEW]),
)
def test_every_report_is_written_as_its_document(
    facts: dict[str, Any],
    summary: str,
    signature: str | None,
    stamp: LoadedPolicy,
    review: dict[str, Any] | None,
) -> None:
    report = make_report(
        1, **{**facts, "summary": summary, "signature": signature, "intent": summary}
    )
    for said in (report, report._replace(intent=None)):
        check(
            StepPayload(
                report=said,
                verdict=step(said),
                policy=stamp,
                review=review,
                more={"running_ms": 5},
            )
        )


def make_payload(**report: Any) -> StepPayload:
    """The last of twenty steps."""
    facts = {"signature": "bash:ls", "failed_calls": 0, "coherence": 0.8, **report}
    verdict = walk([{**facts, "signature": f"{n}"} for n in range(20)])[-1]
    return StepPayload(
        report=make_report(20, **facts),
        verdict=verdict,
        policy=STAMP,
        more={"running_ms": 5},
    )


def test_a_usual_step_is_kept_as_its_values() -> None:
    kept = check(make_payload(summary="Read the log", uncertainty=0.1))
    text = unpack_text(kept)
    assert kept.startswith(STEP_MARK)
    assert len(kept) * 4 < len(text)
    assert len(kept) < len(pack_text(text))


def test_a_long_one_is_packed() -> None:
    kept = check(make_payload(summary="and then the same again, " * 100))
    assert kept.startswith(MARK)
    assert len(kept) < 1_000


def test_a_field_without_a_place_is_an_error() -> None:
    payload = make_payload()
    payload.more["found"] = 1
    with pytest.raises(ValueError, match="no place"):
        payload.write()


def test_an_answer_has_every_field_of_the_verdict() -> None:
    assert sorted(VERDICT_FIELDS) == [
        "checkpoint_due",
        "decision",
        "delay_ms",
        "findings",
        "metrics",
        "recommended_action",
    ]


def test_the_form_is_for_ever() -> None:
    """Without it nothing can be read that is kept in it."""
    parts = (step_form.STEP, step_form.METRICS, step_form.COHERENCE_PARTS)
    more = (step_form.UNCERTAINTY_PARTS, step_form.POLICY)
    text = repr((*parts, *more, USUAL))
    assert hashlib.sha256(text.encode()).hexdigest() == (
        "9c419471858b702127328ea89705bc5dbf6ea9b07b432f6500d8fa22b4bdef9a"
    )


@pytest.mark.parametrize(
    "kept",
    [
        STEP_MARK,
        STEP_MARK + SEPARATOR * (COUNT - 2),
        STEP_MARK + SEPARATOR * COUNT,
        STEP_MARK + SEPARATOR * 32 + "1,2" + SEPARATOR * 15,
        STEP_MARK + SEPARATOR * 32 + "1,2,3,4" + SEPARATOR * 15,
    ],
)
def test_what_cannot_be_read_is_an_error(kept: str) -> None:
    with pytest.raises(ValueError, match="a packed text is damaged"):
        unpack_text(kept)


def test_only_a_stamp_with_a_whole_hash_is_shortened() -> None:
    assert len(shorten_policy(STAMP.stamp)) == 43 + len('3"default"')
    other = '{"hash":"sha256:5E","name":"x","version":1}'
    assert shorten_policy(other) == other
