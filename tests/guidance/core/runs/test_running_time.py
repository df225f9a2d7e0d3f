"""The server's clock of a run: what counts, what does not, and when it is over."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from guidance.core.runs.running_time import RunningTime
from guidance.core.runs.usage import Budget, Usage
from guidance.core.steps.gates.budget import describe_time_over
from guidance.core.tools.judge_call import check_call_budget
from tests.guidance.core.builders import UNLIMITED, get_message, make_report, step
from tests.support.rows import each_row

AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
SECOND = timedelta(seconds=1)
LIMITED = Budget(tokens=None, tool_calls=None, time_ms=500, cost_micros=None)


def test_only_the_time_between_is_counted() -> None:
    """Two seconds of work, an hour of waiting, half a second of work."""
    time = RunningTime(since=AT)
    assert time.measure(AT + 2 * SECOND) == 2000
    waits = time.move(running=False, idle=False, at=AT + 2 * SECOND)
    assert (waits.since, waits.measure(AT + 3600 * SECOND)) == (None, 2000)
    again = waits.move(running=True, idle=False, at=AT + 3600 * SECOND)
    assert again.measure(AT + 3600.5 * SECOND) == 2500
    # Nothing begins anew where nothing changes.
    assert again.move(running=True, idle=False, at=AT + 9999 * SECOND) == again


def test_an_idle_session_does_not_count_whatever_happens_to_its_run() -> None:
    idle = RunningTime(since=AT).move(running=True, idle=True, at=AT + SECOND)
    assert (idle.before_ms, idle.since) == (1000, None)
    ruled = idle.move(running=True, idle=True, at=AT + 50 * SECOND)
    assert ruled.since is None
    prompted = ruled.move(running=True, idle=False, at=AT + 100 * SECOND)
    assert prompted.measure(AT + 101 * SECOND) == 2000


def test_a_clock_that_is_behind_takes_nothing_away() -> None:
    time = RunningTime(before_ms=700, since=AT)
    assert time.measure(AT - SECOND) == 700
    assert time.measure(AT + timedelta(microseconds=1999)) == 701


@each_row(
    ("time", "limit", "end"),
    [
        (RunningTime(since=AT), 500, AT + SECOND / 2),
        (RunningTime(before_ms=400, since=AT), 500, AT + SECOND / 10),
        (RunningTime(before_ms=900, since=AT), 500, AT - SECOND * 0.4),
        (RunningTime(before_ms=400), 500, None),
        (RunningTime(since=AT), None, None),
        (RunningTime(since=AT), 10**15, None),
    ],
)
def test_when_the_limit_is_reached(
    time: RunningTime, limit: int | None, end: datetime | None
) -> None:
    assert time.compute_end(limit) == end


@each_row(
    ("reported", "running", "decision", "left"),
    [
        pytest.param(0, 499, "continue", 1, id="one is left"),
        pytest.param(0, 500, "stop", 0, id="nothing is left"),
        pytest.param(0, 1200, "stop", 0, id="silent about its time"),
        pytest.param(600, 10, "stop", 0, id="reports more than passed"),
        pytest.param(100, None, "continue", 400, id="no clock"),
        pytest.param(300, 200, "continue", 200, id="the larger counts"),
    ],
)
def test_of_two_times_the_longer_counts(
    reported: int, running: int | None, decision: str, left: int
) -> None:
    report = make_report(duration_ms=reported)
    verdict = step(report, budget=LIMITED, running_ms=running)
    assert verdict.decision == decision
    assert verdict.metrics.budget_remaining.time_ms == left
    # Only what was reported is summed.
    assert verdict.used.time_ms == reported
    over = reported >= 500 or (running or 0) >= 500
    found = check_call_budget(
        budget=LIMITED, used=Usage(time_ms=reported), reserved=0, running_ms=running
    )
    assert (found is not None) is over
    if found is not None:
        assert found.details["used_up"] == ["time_ms"]


def test_the_words_say_whose_clock_it_was() -> None:
    measured = step(make_report(), budget=LIMITED, running_ms=1200)
    said = "Time used up by the server's clock: 0 s of 0.5 s left, 0.7 s over"
    assert get_message(measured, "budget") == said
    assert describe_time_over(limit_ms=500, reported_ms=3, running_ms=1200) == said
    told = step(make_report(duration_ms=500), budget=LIMITED, running_ms=20)
    said = "Time used up: 0 s of 0.5 s left"
    assert get_message(told, "budget") == said
    assert describe_time_over(limit_ms=500, reported_ms=500, running_ms=20) == said


def test_without_a_limit_time_stops_nothing() -> None:
    assert step(make_report(), budget=UNLIMITED, running_ms=10**12).decision == (
        "continue"
    )
