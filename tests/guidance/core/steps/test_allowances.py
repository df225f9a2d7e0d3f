"""What a person has allowed beforehand turns one gate's pause into going on, nothing else."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guidance.core.policy import load_policy
from guidance.core.reviews.allowances import round_up
from guidance.core.runs.allowances import Allowance, read_allowances
from guidance.core.runs.memory import Memory
from guidance.core.steps.allowances import format_value
from guidance.core.steps.judge_step import StepVerdict
from tests.guidance.core.builders import make_report, step

AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
LATER = AT + timedelta(minutes=30)


def make_allowance(**parts: Any) -> Allowance:
    given: dict[str, Any] = {
        "code": "019a1b2c-3d4e-7f60-8abc-def012345678",
        "review": "019a1b2c-3d4e-7f60-8abc-def012345679",
        "gate": "uncertainty",
        "up_to": 0.9,
        "steps": 20,
        "last_step": 25,
        "given_at": AT,
        "ends_at": LATER,
        "by": "user:alice",
        **parts,
    }
    return Allowance(**given)


def judge(
    number: int = 6,
    *,
    allowance: Allowance | None = None,
    at: datetime | None = AT,
    policy: dict[str, Any] | None = None,
    **report: Any,
) -> StepVerdict:
    memory = Memory(last_step=number - 1, allowances=(allowance or make_allowance(),))
    return step(
        make_report(number, **{"uncertainty": 0.9, "checkpoint": True, **report}),
        memory=memory,
        at=at,
        policy=load_policy(policy or {}),
    )


def test_the_finding_stays_and_says_what_let_it_go_on() -> None:
    verdict = judge()
    assert verdict.decision == "continue"
    assert verdict.recommended_action == "Go on."
    (finding,) = verdict.findings
    assert finding.to_json() == {
        "gate": "uncertainty",
        "decision": "continue",
        "message": "Uncertainty 0.90, over the 0.80 limit, but allowed up to 0.90 "
        "until step 25",
        "value": 0.9,
        "limit": 0.8,
        "allowance": "019a1b2c-3d4e-7f60-8abc-def012345678",
    }


@pytest.mark.parametrize(
    ("judged", "decision"),
    [
        ({"number": 25}, "continue"),
        ({"number": 26}, "pause"),
        ({"at": LATER - timedelta(microseconds=1)}, "continue"),
        ({"at": LATER}, "pause"),
        ({"at": None}, "pause"),
        ({"uncertainty": 0.900001}, "pause"),
        ({"allowance": make_allowance(gate="rework")}, "pause"),
        ({"allowance": make_allowance(gate="repetition")}, "pause"),
        # Other gates decide as ever.
        ({"coherence": 0.1}, "stop"),
        # The policy has the last word.
        ({"policy": {"reviews": {"allowances": {"max_steps": 0}}}}, "pause"),
        ({"policy": {"reviews": {"allowances": {"max_uncertainty": 0.89}}}}, "pause"),
    ],
)
def test_where_it_ends(judged: dict[str, Any], decision: str) -> None:
    assert judge(**judged).decision == decision


def test_another_signal_pauses_beside_it() -> None:
    """The same step again and again is no matter of uncertainty."""
    allowance = make_allowance(last_step=100)
    memory = Memory(allowances=(allowance,))
    for number in (1, 2):
        report = make_report(number, uncertainty=0.9, signature="a")
        verdict = step(report, memory=memory, at=AT)
        assert verdict.decision == "continue"
        memory = verdict.memory
    verdict = step(make_report(3, uncertainty=0.9, signature="a"), memory=memory, at=AT)
    assert verdict.decision == "pause"
    decisions = {each.gate: each.decision for each in verdict.findings}
    assert decisions == {"uncertainty": "continue", "repetition": "pause"}


def test_rework_is_allowed_by_its_share() -> None:
    allowance = make_allowance(gate="rework", up_to=0.4, last_step=100)
    memory = Memory(allowances=(allowance,))
    decisions = []
    for number, rework in enumerate([True, False, False, True, False, True], start=1):
        verdict = step(make_report(number, rework=rework), memory=memory, at=AT)
        memory = verdict.memory
        decisions.append(verdict.decision)
    # 2 of 5 are 40 %, 3 of 6 are more than was allowed.
    assert decisions == ["continue"] * 5 + ["pause"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"up_to": "much"},
        {"last_step": None},
        {"ends_at": "2026-01-02T03:34:05"},
        {"up_to": float("nan")},
        {"up_to": 7},
    ],
)
def test_what_cannot_be_read_allows_nothing(wrong: dict[str, Any]) -> None:
    whole = make_allowance()
    names = [
        *("code", "review", "gate", "up_to", "steps", "last_step"),
        *("given_at", "ends_at", "by"),
    ]
    row = dict(zip(names, whole.to_json(), strict=True))
    assert read_allowances([[*row.values()]]) == (whole,)
    assert read_allowances([[*(row | wrong).values()]]) == ()
    assert read_allowances([row, 3, None, []]) == ()
    assert read_allowances("nonsense") == ()


def test_a_memory_without_any_is_stored_as_ever() -> None:
    assert "allowances" not in Memory().to_json()
    memory = Memory(allowances=(make_allowance(),))
    assert Memory.from_json(memory.to_json()) == memory
    assert memory.start_segment().allowances == memory.allowances
    assert memory.start_fresh().allowances == ()


@pytest.mark.parametrize(
    ("gate", "value", "words"),
    [
        ("rework", 0.3157894736842105, "31.58 %"),
        ("rework", 0.3, "30 %"),
        ("uncertainty", 0.8157894736842105, "0.8158"),
        ("uncertainty", 0.9, "0.90"),
    ],
)
def test_what_is_allowed_reads_as_a_figure(gate: str, value: float, words: str) -> None:
    assert format_value(gate, value) == words


@given(st.floats(min_value=0, max_value=1))
def test_a_rounded_ceiling_still_allows_what_was_reported(value: float) -> None:
    rounded = round_up(value)
    assert value <= rounded < value + 0.00011
    assert round(rounded, 4) == rounded
