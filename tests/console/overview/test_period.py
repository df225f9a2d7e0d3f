"""Periods in whole hours and days of UTC, and the one before, equally long."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from console.overview.period import read_period

NOW = datetime(2026, 11, 17, 14, 32, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    ("name", "count", "since", "words"),
    [
        ("24h", 24, datetime(2026, 11, 16, 15, tzinfo=UTC), "since 16 Nov, 15:00 UTC"),
        ("7d", 7, datetime(2026, 11, 11, tzinfo=UTC), "11 Nov – 17 Nov"),
        ("30d", 30, datetime(2026, 10, 19, tzinfo=UTC), "19 Oct – 17 Nov"),
        ("90d", 90, datetime(2026, 8, 20, tzinfo=UTC), "20 Aug – 17 Nov"),
    ],
)
def test_a_period_ends_now(name: str, count: int, since: datetime, words: str) -> None:
    period = read_period(name, NOW)
    assert (period.count, period.since, period.until) == (count, since, NOW)
    assert period.words == words
    assert period.find_bucket(NOW) == count - 1
    assert period.find_bucket(since) == 0
    assert len(period.buckets) == count


def test_what_is_not_known_is_the_usual_one() -> None:
    assert read_period("900d", NOW) == read_period("30d", NOW) == read_period("", NOW)


def test_the_period_before_ends_at_this_time_of_day() -> None:
    before = read_period("7d", NOW).before
    assert before.since == datetime(2026, 11, 4, tzinfo=UTC)
    assert before.until == datetime(2026, 11, 10, 14, 32, 5, tzinfo=UTC)
    assert read_period("7d", NOW).find_bucket(before.since) is None
