"""The rework gate."""

from __future__ import annotations

import pytest

from tests.guidance.core.builders import (
    ask,
    list_gates,
    make_policy,
    make_report,
    step,
    walk,
)
from tests.support.rows import each_row


def pattern(text: str) -> list[dict[str, bool]]:
    """One step a letter, `r` for rework."""
    return [{"rework": letter == "r"} for letter in text]


@each_row(
    ("number", "count", "ratio", "decision"),
    [
        pytest.param(10, 4, 0.4, "pause", id="CG-15"),
        pytest.param(10, 3, 0.3, "continue", id="CG-16"),
        pytest.param(20, 4, 0.2, "continue", id="CG-17"),
        pytest.param(0, 0, 0.0, "continue", id="CG-18"),
        pytest.param(20, 6, 0.3, "continue", id="six-of-twenty"),
        pytest.param(20, 7, 0.35, "pause", id="seven-of-twenty"),
        pytest.param(4, 4, 1.0, "continue", id="too-few-steps"),
        pytest.param(5, 2, 0.4, "pause", id="from-five-steps-on"),
        pytest.param(5, 1, 0.2, "continue", id="one-of-five"),
    ],
)
def test_without_a_run_the_ratio_is_over_all_steps(
    number: int, count: int, ratio: float, decision: str
) -> None:
    verdict = ask(step_number=number, rework_count=count)
    assert verdict.decision == decision
    assert verdict.metrics.rework_ratio == ratio
    assert verdict.metrics.rework_ratio_total == ratio


@each_row(
    ("steps", "paused_at"),
    [
        pytest.param("rrrr.", [5], id="unknown-below-five-steps"),
        pytest.param("r....", [], id="one-of-five"),
        pytest.param("rrr.......", [5, 6, 7, 8, 9], id="CG-16-three-of-ten-passes"),
        pytest.param(".......rrr", [], id="three-late-of-ten"),
        pytest.param("......rrrr", [9, 10], id="CG-15-four-of-ten"),
        pytest.param("." * 14 + "r" * 6, [], id="six-of-twenty"),
        pytest.param("." * 14 + "r" * 7, [21], id="seven-of-twenty"),
    ],
)
def test_in_a_run_the_ratio_is_over_the_last_steps(
    steps: str, paused_at: list[int]
) -> None:
    verdicts = walk(pattern(steps))
    assert [
        n for n, verdict in enumerate(verdicts, 1) if verdict.decision == "pause"
    ] == paused_at


def test_a_late_loop_is_seen_after_seven_steps_however_long_the_run_was_clean() -> None:
    """CG-43 R."""
    verdicts = walk(
        [{"checkpoint": True}] * 900 + [{"rework": True, "checkpoint": True}] * 7
    )
    assert [verdict.decision for verdict in verdicts[-7:]] == ["continue"] * 6 + [
        "pause"
    ]
    assert verdicts[-1].metrics.rework_ratio == 0.35
    assert verdicts[-1].metrics.rework_ratio_total == 7 / 907


def test_a_hundred_fast_steps_of_rework_are_judged_one_by_one() -> None:
    """CG-44 R."""
    verdicts = walk(
        {"rework": number % 10 != 0, "checkpoint": True} for number in range(1, 101)
    )
    assert {verdict.decision for verdict in verdicts[4:]} == {"pause"}


def test_old_rework_leaves_the_window() -> None:
    verdicts = walk(pattern("rrr" + "." * 20))
    assert verdicts[-1].metrics.rework_ratio == 0.0
    assert verdicts[-1].metrics.rework_ratio_total == 3 / 23


def test_below_the_fewest_steps_it_is_not_evaluated() -> None:
    fourth, fifth = walk(pattern("rrrr."))[-2:]
    assert "rework" in fourth.metrics.not_evaluated
    assert fourth.metrics.rework_ratio == 1.0
    assert "rework" not in fifth.metrics.not_evaluated


def test_the_message_tells_ratio_and_limit() -> None:
    verdict = ask(step_number=10, rework_count=4)
    (finding,) = verdict.findings
    assert finding.to_json() == {
        "gate": "rework",
        "decision": "pause",
        "message": "Rework ratio 40 %, over the 30 % limit",
        "value": 0.4,
        "limit": 0.3,
    }


def test_a_ratio_that_rounds_to_the_limit_is_shown_with_more_digits() -> None:
    verdict = ask(step_number=1000, rework_count=301, last_checkpoint_step=999)
    (finding,) = verdict.findings
    assert finding.message == "Rework ratio 30.1 %, over the 30 % limit"


def test_an_approved_pause_is_not_held_against_the_next_steps() -> None:
    paused = walk(pattern("...rrr"))[-1]
    assert paused.decision == "pause"
    memory = paused.memory.start_segment()
    after = walk(pattern("r.r.."), memory=memory)
    assert [verdict.decision for verdict in after] == ["continue"] * 4 + ["pause"]
    assert after[0].metrics.rework_ratio == 1.0
    assert after[0].metrics.rework_ratio_total == 4 / 7


@each_row(
    ("limit", "trips"),
    [(0.1, 2), (0.2, 3), (0.3, 4), (0.6, 7), (0.7, 8), (0.9, 10), (1.0, 11)],
)
def test_a_ratio_on_the_limit_never_trips(limit: float, trips: int) -> None:
    """Tenths are not exact in binary: 3 · 0.1 is already more than 0.3."""
    policy = make_policy(max_rework_ratio=limit, rework_window=10)
    for count in range(11):
        memory = walk(pattern("r" * count + "." * (10 - count)))[-2].memory
        verdict = step(
            make_report(10, rework=count == 10), policy=policy, memory=memory
        )
        assert ("rework" in list_gates(verdict)) == (count >= trips)
