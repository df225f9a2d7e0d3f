"""Deadlines: time that stands still while nobody works, and which of them counts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guidance.core.policy import load_policy
from guidance.core.reviews.section import WEEKDAYS, WorkingHours
from guidance.core.reviews.working_time import (
    LONGEST,
    add_working_time,
    decide_deadlines,
)

BERLIN = ZoneInfo("Europe/Berlin")
HOURS = WorkingHours(enabled=True, zone="Europe/Berlin")
MINUTE = timedelta(minutes=1)

CLOCKS = st.integers(0, 24 * 4).map(lambda n: f"{n // 4:02d}:{n % 4 * 15:02d}")
FIRST = datetime(2026, 1, 1, tzinfo=UTC)
MOMENTS = st.integers(0, 2 * 366 * 24 * 60).map(lambda n: FIRST + n * MINUTE)
AMOUNTS = st.timedeltas(timedelta(0), timedelta(days=20))
ZONES = st.sampled_from(["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata"])


@st.composite
def working_hours(draw: st.DrawFn) -> WorkingHours:
    begin, end = sorted(draw(st.lists(CLOCKS, min_size=2, max_size=2, unique=True)))
    days = draw(st.lists(st.sampled_from(WEEKDAYS), min_size=1, unique=True))
    free = draw(st.lists(st.dates(FIRST.date()), max_size=5))
    return WorkingHours(
        enabled=True,
        zone=draw(ZONES),
        days=tuple(days),
        begin=begin,
        end=end,
        holidays=tuple(day.isoformat() for day in free),
    )


def add(moment: datetime, amount: timedelta, hours: WorkingHours = HOURS) -> datetime:
    return add_working_time(moment, amount, hours=hours, zone=ZoneInfo(hours.zone))


def berlin(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=BERLIN)


@pytest.mark.parametrize(
    ("begins", "amount", "ends"),
    [
        # Tuesday, within the day; over the night; over the weekend; from a Saturday.
        ("2026-11-17 14:00", timedelta(hours=2), "2026-11-17 16:00"),
        ("2026-11-17 16:00", timedelta(hours=2), "2026-11-18 10:00"),
        ("2026-11-20 16:30", timedelta(hours=1), "2026-11-23 09:30"),
        ("2026-11-21 12:00", timedelta(hours=8), "2026-11-23 17:00"),
        ("2026-11-17 03:00", MINUTE, "2026-11-17 09:01"),
        # The clock goes back on Sunday, 25 October: Friday evening to Monday.
        ("2026-10-23 16:00", timedelta(hours=2), "2026-10-26 10:00"),
    ],
)
def test_nothing_passes_while_nobody_works(
    begins: str, amount: timedelta, ends: str
) -> None:
    assert add(berlin(begins), amount) == berlin(ends)


def test_a_holiday_is_passed_over_and_a_day_may_end_at_midnight() -> None:
    free = WorkingHours(
        enabled=True, zone="Europe/Berlin", holidays=("2026-11-18",), end="24:00"
    )
    assert add(berlin("2026-11-17 23:00"), 2 * 60 * MINUTE, free) == berlin(
        "2026-11-19 10:00"
    )


def test_the_night_in_which_the_clock_goes_back_is_an_hour_longer() -> None:
    always = WorkingHours(
        enabled=True, zone="Europe/Berlin", days=WEEKDAYS, begin="00:00", end="24:00"
    )
    begins = berlin("2026-10-25 00:00")
    assert add(begins, timedelta(hours=25), always) == berlin("2026-10-26 00:00")


def test_off_it_is_the_time_on_the_wall() -> None:
    off = WorkingHours()
    saturday = datetime(2026, 11, 21, 12, tzinfo=UTC)
    assert add(saturday, MINUTE, off) == saturday + MINUTE


@given(moment=MOMENTS, amount=AMOUNTS, hours=working_hours())
def test_it_ends_within_working_hours_never_early(
    moment: datetime, amount: timedelta, hours: WorkingHours
) -> None:
    end = add(moment, amount, hours)
    assert moment + amount <= end <= moment + LONGEST
    if end == moment + LONGEST:
        return
    local = end.astimezone(ZoneInfo(hours.zone))
    day = local.date()
    clock = f"{local:%H:%M}"
    if clock == "00:00" and hours.end == "24:00":
        day, clock = day - timedelta(days=1), "24:00"
    assert hours.begin <= clock <= hours.end
    assert WEEKDAYS[day.weekday()] in hours.days
    assert day.isoformat() not in hours.holidays


@given(moment=MOMENTS, first=AMOUNTS, second=AMOUNTS, hours=working_hours())
def test_two_times_one_after_the_other_are_one_time(
    moment: datetime, first: timedelta, second: timedelta, hours: WorkingHours
) -> None:
    whole = add(moment, first + second, hours)
    if whole < moment + LONGEST:
        assert add(add(moment, first, hours), second, hours) == whole
    assert add(moment, first, hours) <= whole


def test_a_kind_counts_before_its_severity_and_nothing_is_late_after_its_end() -> None:
    rules = load_policy(
        {
            "reviews": {
                "expires_after_s": 600,
                "deadlines": {
                    "severity": {
                        "high": {"answer_within_s": 60, "expires_after_s": 120}
                    },
                    "kinds": {"question": {"answer_within_s": 30}},
                },
            }
        }
    ).reviews
    at = datetime(2026, 11, 17, tzinfo=UTC)

    def find(kind: str, severity: str) -> tuple[int, int]:
        found = decide_deadlines(
            rules, kind=kind, severity=severity, opened_at=at, zone=UTC
        )
        late, end = (int((each - at).total_seconds()) for each in found)
        return late, end

    assert find("pause", "high") == (60, 120)
    assert find("question", "high") == (30, 120)
    assert find("pause", "medium") == (600, 600)
    assert find("question", "low") == (30, 600)
