"""The checkpoint and step limit gates: an obedient agent runs for ever."""

from __future__ import annotations

from collections import Counter

import pytest

from guidance.core.runs.memory import Memory
from tests.guidance.core.builders import (
    ask,
    get_message,
    list_gates,
    make_policy,
    make_report,
    step,
    walk,
)
from tests.support.rows import each_row


def at_step(number: int, *, checkpoint: int = 0) -> Memory:
    """The memory just before this step."""
    return Memory(
        steps=number - 1, last_step=number - 1, last_checkpoint_step=checkpoint
    )


@each_row(
    ("number", "checkpoint", "decision"),
    [
        pytest.param(24, 0, "continue", id="CG-23"),
        pytest.param(25, 0, "checkpoint", id="CG-22"),
        pytest.param(99, 0, "checkpoint", id="one-before-the-limit"),
        pytest.param(100, 0, "stop", id="at-the-limit"),
        # The seed stopped here; ours asks for the checkpoint first, and stops only
        # an agent that ignored it for a hundred steps.
        pytest.param(100, 50, "checkpoint", id="CG-08"),
        pytest.param(100, 90, "continue", id="CG-09"),
        pytest.param(100, 75, "checkpoint", id="limit-counts-from-the-last-one"),
        pytest.param(150, 50, "stop", id="hundred-since-the-last-one"),
    ],
)
def test_steps_since_the_last_checkpoint_decide(
    number: int, checkpoint: int, decision: str
) -> None:
    in_run = step(make_report(number), memory=at_step(number, checkpoint=checkpoint))
    assert in_run.decision == decision
    assert ask(step_number=number, last_checkpoint_step=checkpoint).decision == decision


def test_the_messages_tell_how_many_steps_went_by() -> None:
    verdict = step(make_report(100), memory=at_step(100))
    assert list_gates(verdict) == ["step_limit", "checkpoint"]
    assert get_message(verdict, "step_limit") == (
        "100 steps without a checkpoint, the limit is 100"
    )
    assert get_message(verdict, "checkpoint") == (
        "100 steps without a checkpoint, one is due every 25"
    )


def test_one_step_is_singular() -> None:
    verdict = step(make_report(), policy=make_policy(checkpoint_interval_steps=1))
    assert get_message(verdict, "checkpoint") == (
        "1 step without a checkpoint, one is due every 1"
    )


def test_an_obedient_agent_is_asked_every_25_steps_and_never_stopped() -> None:
    """CG-41 R."""
    memory = Memory()
    asked = []
    decisions: Counter[str] = Counter()
    for number in range(1, 301):
        verdict = step(make_report(number), memory=memory)
        memory = verdict.memory
        decisions[verdict.decision] += 1
        if verdict.decision == "checkpoint":
            asked.append(number)
            memory = memory.set_checkpoint(number)
    assert asked == list(range(25, 301, 25))
    assert decisions == {"continue": 288, "checkpoint": 12}


def test_an_agent_that_reports_its_checkpoints_is_never_asked() -> None:
    verdicts = walk({"checkpoint": number % 20 == 0} for number in range(1, 501))
    assert {verdict.decision for verdict in verdicts} == {"continue"}


def test_an_agent_that_ignores_checkpoints_stops_at_100() -> None:
    """CG-42 R."""
    decisions = [verdict.decision for verdict in walk([{}] * 100)]
    assert decisions == ["continue"] * 24 + ["checkpoint"] * 75 + ["stop"]


def test_the_limit_counts_from_the_last_checkpoint() -> None:
    """CG-42 R."""
    verdicts = walk({"checkpoint": number == 10} for number in range(1, 111))
    assert [n for n, v in enumerate(verdicts, 1) if v.decision == "stop"] == [110]


def test_a_step_that_is_a_checkpoint_counts_before_the_gates_look() -> None:
    verdict = step(make_report(100, checkpoint=True), memory=at_step(100))
    assert verdict.decision == "continue"
    assert verdict.metrics.steps_since_checkpoint == 0
    assert verdict.memory.last_checkpoint_step == 100


@each_row(
    ("number", "until", "due"),
    [(1, 24, False), (24, 1, False), (25, 0, True), (60, 0, True)],
)
def test_the_steps_until_the_next_one_never_fall_below_zero(
    number: int, until: int, due: bool
) -> None:
    verdict = step(make_report(number), memory=at_step(number))
    assert verdict.metrics.steps_until_checkpoint == until
    assert verdict.checkpoint_due is due


@pytest.mark.parametrize(
    ("worse", "decision"),
    [({"coherence": 0.1}, "stop"), ({"uncertainty": 0.9}, "pause")],
    ids=["stop", "pause"],
)
def test_a_worse_decision_does_not_hide_that_one_is_due(
    worse: dict[str, float], decision: str
) -> None:
    verdict = step(make_report(25, **worse), memory=at_step(25))
    assert verdict.decision == decision
    assert verdict.checkpoint_due
    assert "checkpoint" in list_gates(verdict)


def test_a_new_segment_does_not_reset_the_count() -> None:
    memory = at_step(25).start_segment()
    assert step(make_report(25), memory=memory).decision == "checkpoint"


def test_a_reopened_run_counts_anew() -> None:
    memory = walk([{}] * 100)[-1].memory.start_fresh()
    verdict = step(make_report(101), memory=memory)
    assert verdict.decision == "continue"
    assert verdict.metrics.steps_since_checkpoint == 1
