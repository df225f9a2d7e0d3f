"""Texts of reports and verdicts are those of their documents."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.transitions import report_to_json
from guidance.core.jcs import to_jcs, write_number
from guidance.core.policy import Policy
from guidance.core.steps.texts import write_report, write_verdict_fields
from tests.guidance.core.builders import make_report, walk
from tests.guidance.core.steps.test_properties import policies, reports, runs, steadily
from tests.support.examples import examples

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


@steadily
@given(report=reports, summary=texts, signature=st.none() | texts)
def test_a_report_is_written_as_its_document(
    report: dict[str, Any], summary: str, signature: str | None
) -> None:
    told = make_report(
        7, **{**report, "summary": summary, "signature": signature, "intent": summary}
    )
    assert write_report(told) == to_jcs(report_to_json(told))
    unsaid = replace(told, intent=None)
    assert write_report(unsaid) == to_jcs(report_to_json(unsaid))


@steadily
@given(steps=runs, policy=policies, waited_ms=st.none() | st.just(0))
def test_a_verdict_is_written_as_its_document(
    steps: list[dict[str, Any]], policy: Policy, waited_ms: int | None
) -> None:
    for verdict in walk(
        steps, policy=policy, budget=policy.budget, waited_ms=waited_ms
    ):
        texts = write_verdict_fields(verdict)
        document = verdict.to_json()
        assert list(texts) == sorted(document)
        assert texts == {name: to_jcs(value) for name, value in document.items()}


@examples(500)
@given(
    st.none()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from([0.0, -0.0, 1.0, 1e21, 1e-7, 123456789012345680000.0, 5e-324])
)
def test_a_number_by_itself_is_written_as_within_a_document(
    value: float | None,
) -> None:
    assert write_number(value) == to_jcs(value)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_what_is_no_number_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_number(value)
