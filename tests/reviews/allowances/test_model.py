"""Whatever an agent reports, it asks exactly where a plain count says so."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guidance.core.policy import Policy
from guidance.core.reviews.allowances import AllowanceChoice
from guidance.core.runs.memory import Memory
from ledger.plan import Plan
from reviews.allowances.ending import end_used_allowances
from reviews.allowances.giving import NewAllowance
from tests.guidance.core.builders import make_report, step
from tests.support.examples import examples
from tests.support.run_states import AT, build_run

pytestmark = pytest.mark.once("judges a run in memory")

LIMIT = 0.8


@dataclass
class Count:
    """The model: so many steps and minutes are left, up to a value."""

    steps: int = 0
    minutes: int = 0
    up_to: float = 0.0

    def asks(self, value: float, *, minutes: int) -> bool:
        """After so many more minutes, with one more step."""
        self.minutes -= minutes
        allowed = self.steps > 0 and self.minutes > 0 and value <= self.up_to
        self.steps -= 1
        return value > LIMIT and not allowed


def build_allowance(*, up_to: float, steps: int, minutes: int) -> NewAllowance:
    choice = AllowanceChoice(
        gate="uncertainty", up_to=up_to, steps=steps, minutes=minutes
    )
    return NewAllowance(choice=choice, value=0.9, limit=LIMIT)


reports = st.tuples(st.sampled_from([0.5, 0.81, 0.85, 0.9, 0.96]), st.integers(0, 7))


@examples(150)
@given(
    reports=st.lists(reports, min_size=1, max_size=40),
    steps=st.integers(1, 8),
    minutes=st.integers(1, 30),
    up_to=st.sampled_from([0.82, 0.86, 0.9]),
)
def test_a_run_asks_where_a_plain_count_says_so(
    reports: list[tuple[float, int]], steps: int, minutes: int, up_to: float
) -> None:
    """Each pause is approved with the same allowance."""
    allowance = build_allowance(up_to=up_to, steps=steps, minutes=minutes)
    run, at, count = build_run(), AT, Count()
    policy = Policy()
    for number, (value, waited) in enumerate(reports, start=1):
        at += timedelta(minutes=waited)
        report = make_report(number, uncertainty=value, checkpoint=True)
        verdict = step(report, memory=run.memory, at=at, policy=policy)
        assert (verdict.decision == "pause") == count.asks(value, minutes=waited)
        plan = Plan(replace(run, memory=verdict.memory), at)
        end_used_allowances(plan, step=number, actor="system:continue-gate")
        if verdict.decision == "pause":
            allowance.give(plan, review="r", actor="user:alice", note="")
            count = Count(steps=steps, minutes=minutes, up_to=up_to)
        # As it is stored and read again.
        stored = Memory.from_json(plan.run.memory.to_json())
        assert stored == plan.run.memory
        run = replace(plan.run, memory=stored)
        ended = [draft for draft in plan.drafts if draft.type == "allowance.ended"]
        assert len(ended) <= 1
        assert len(run.memory.allowances) <= 1


def test_the_same_value_each_step_asks_once_for_each_n() -> None:
    allowance = build_allowance(up_to=0.9, steps=20, minutes=60)
    run, asked = build_run(), []
    for number in range(1, 64):
        report = make_report(number, uncertainty=0.9, checkpoint=True)
        verdict = step(report, memory=run.memory, at=AT)
        plan = Plan(replace(run, memory=verdict.memory), AT)
        end_used_allowances(plan, step=number, actor="system:continue-gate")
        if verdict.decision == "pause":
            asked.append(number)
            allowance.give(plan, review="r", actor="user:alice", note="")
        run = plan.run
    assert asked == [1, 22, 43]
