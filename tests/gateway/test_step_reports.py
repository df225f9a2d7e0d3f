"""What an agent reports of a step reaches the gates, field by field."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from gateway.schemas.runs import StepIn
from gateway.use_cases.steps import build_report
from guidance.core.runs.facts import StepReport
from tests.support.builders import start_run, step

# Of every field a value that is not its default.
REPORTED: dict[str, Any] = {
    "number": 3,
    "tokens": 1200,
    "tool_calls": 2,
    "duration_ms": 800,
    "cost_usd": "0.02",
    "rework": True,
    "checkpoint": True,
    "coherence": 0.9,
    "uncertainty": 0.2,
    "confidences": [0.5],
    "intent": "docs",
    "summary": "Ran the tests",
    "signature": "test",
    "failed_calls": 1,
}
NEEDED = {name for name, field in StepIn.model_fields.items() if field.is_required()}


def build(**changes: Any) -> StepReport:
    return build_report(StepIn.model_validate({**REPORTED, **changes}))


def test_every_field_of_a_report_is_filled() -> None:
    report = build()
    unfilled = [
        name
        for name, default in StepReport._field_defaults.items()
        if getattr(report, name) == default
    ]
    assert unfilled == []


def test_every_field_that_may_be_sent_has_a_value_here() -> None:
    assert set(REPORTED) == set(StepIn.model_fields)


@pytest.mark.parametrize("name", REPORTED)
def test_every_field_that_is_sent_changes_the_report(name: str) -> None:
    other = 7 if name in NEEDED else StepIn.model_fields[name].get_default()
    assert build(**{name: other}) != build()


@pytest.mark.parametrize(
    "reported",
    [{}, {"uncertainty": 0.99}, {"summary": 'Said "é" \\ and \n more'}],
    ids=["goes on", "pauses", "signs"],
)
def test_a_repeated_step_is_answered_byte_for_byte_the_same(
    agent: httpx.Client, reported: dict[str, Any]
) -> None:
    run = start_run(agent)
    body = step(1, checkpoint=True, **reported)
    first, again = (agent.post(f"/runs/{run}/steps", json=body) for _ in range(2))
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert first.content == again.content


def test_repeated_steps_of_a_batch_are_answered_the_same(agent: httpx.Client) -> None:
    run = start_run(agent)
    body = {"steps": [step(number, checkpoint=True) for number in (1, 2, 3)]}
    first, again = (agent.post(f"/runs/{run}/steps/batch", json=body) for _ in range(2))
    assert (first.status_code, again.status_code) == (200, 200), first.text
    assert first.content == again.content
