"""Periods, hour by hour: where they begin and end, and which rows they are made of."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from ledger.statistics.periods import (
    Scope,
    SeriesInterval,
    list_points,
    list_spans,
    round_to,
)
from ledger.statistics.totals import Totals


def read(text: str) -> datetime:
    """A moment of November 2026, of which the 16th is a Monday: such as 16 09:30."""
    return datetime.strptime(f"2026-11-{text}", "%Y-%m-%d %H:%M").replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("at", "interval", "begin"),
    [
        ("18 23:59", "hour", "18 23:00"),
        ("18 23:59", "day", "18 00:00"),
        ("16 00:00", "week", "16 00:00"),
        ("16 00:01", "week", "16 00:00"),
        ("18 12:00", "week", "16 00:00"),
        ("21 12:00", "week", "16 00:00"),
        ("22 00:00", "week", "16 00:00"),
        ("22 23:59", "week", "16 00:00"),
        ("23 00:00", "week", "23 00:00"),
    ],
)
def test_weeks_begin_on_mondays(at: str, interval: SeriesInterval, begin: str) -> None:
    assert round_to(read(at), interval) == read(begin)


def test_days_and_weeks_are_those_of_utc() -> None:
    """It is still Sunday there, and Monday already here."""
    there = datetime(2026, 11, 22, 20, tzinfo=timezone(timedelta(hours=-8)))
    assert round_to(there, "day") == read("23 00:00")
    assert round_to(there, "week") == read("23 00:00")


@pytest.mark.parametrize(
    ("begin", "end", "spans"),
    [
        ("16 10:00", "16 10:00", []),
        ("16 11:00", "16 10:00", []),
        ("16 10:00", "16 12:00", [("hour", "16 10:00", "16 12:00")]),
        ("16 00:00", "17 00:00", [("day", "16 00:00", "17 00:00")]),
        ("16 00:00", "16 23:00", [("hour", "16 00:00", "16 23:00")]),
        # A day and a half in all, and no whole day in it.
        ("16 12:00", "17 12:00", [
            ("hour", "16 12:00", "17 00:00"), ("hour", "17 00:00", "17 12:00"),
        ]),
        ("16 10:00", "18 12:00", [
            ("hour", "16 10:00", "17 00:00"),
            ("day", "17 00:00", "18 00:00"),
            ("hour", "18 00:00", "18 12:00"),
        ]),
        ("16 00:00", "18 12:00", [
            ("day", "16 00:00", "18 00:00"), ("hour", "18 00:00", "18 12:00"),
        ]),
        ("16 10:00", "18 00:00", [
            ("hour", "16 10:00", "17 00:00"), ("day", "17 00:00", "18 00:00"),
        ]),
    ],
)  # fmt: skip
def test_whole_days_are_read_as_days(
    begin: str, end: str, spans: list[tuple[str, str, str]]
) -> None:
    found = list_spans(read(begin), read(end))
    # Two spans of hours that meet are as good as one.
    wanted = [(name, read(since), read(until)) for name, since, until in spans]
    if [each[0] for each in wanted] == ["hour", "hour"]:
        wanted = [("hour", wanted[0][1], wanted[1][2])]
    assert [(each.interval.value, each.since, each.until) for each in found] == wanted


@pytest.mark.parametrize(
    ("interval", "points"),
    [
        ("hour", ["21 22:00", "21 23:00", "22 00:00"]),
        ("day", ["21 00:00", "22 00:00"]),
        ("week", ["16 00:00"]),
    ],
)
def test_points_begin_before_the_period_and_none_at_its_end(
    interval: SeriesInterval, points: list[str]
) -> None:
    found = list(list_points(read("21 22:00"), read("22 01:00"), interval))
    assert found == [read(each) for each in points]
    assert list(list_points(read("21 22:00"), read("21 22:00"), "hour")) == []


def test_a_week_follows_the_other_to_the_end() -> None:
    found = list(list_points(read("18 00:00"), read("30 00:00"), "week"))
    assert found == [read("16 00:00"), read("23 00:00")]


@pytest.mark.parametrize(
    ("since", "until", "begin", "end"),
    [
        ("16 10:00", "16 11:00", "16 10:00", "16 11:00"),
        ("16 10:59", "16 11:01", "16 10:00", "16 12:00"),
        ("16 10:30", "16 10:30", "16 10:00", "16 11:00"),
    ],
)
def test_a_period_is_widened_to_whole_hours(
    since: str, until: str, begin: str, end: str
) -> None:
    scope = Scope(project_id=1, since=read(since), until=read(until))
    assert (scope.begin, scope.end) == (read(begin), read(end))


def test_runs_that_ended_for_good_and_the_average_of_steps_that_had_one() -> None:
    ended = Totals(
        runs_completed=1,
        runs_failed=2,
        runs_aborted=4,
        runs_abandoned=8,
        runs_stopped=16,
        runs_reopened=32,
    )
    assert ended.runs_ended == 15
    assert Totals().average_slope is None
    assert Totals(slope_micros=-1_500_000, slope_count=2).average_slope == -0.75
