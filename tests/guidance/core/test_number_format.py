"""Figures as people read them."""

from __future__ import annotations

import pytest

from guidance.core.number_format import (
    format_beside,
    format_count,
    format_duration,
    format_percent,
    format_percent_beside,
    format_plain,
)
from tests.support.rows import each_row


@each_row(
    ("value", "limit", "text"),
    [
        pytest.param(0.86, 0.8, "0.86", id="two-decimals-are-enough"),
        pytest.param(0.3999, 0.4, "0.3999", id="rounds-to-its-limit"),
        pytest.param(0.8141, 0.814, "0.8141", id="rounds-to-the-wrong-side"),
        pytest.param(0.39999999999999997, 0.4, "0.39999999999999997", id="last-digit"),
        pytest.param(0.8, 0.8, "0.80", id="equal"),
        pytest.param(1.0, 0.8, "1.00", id="whole"),
        pytest.param(0.0, 0.4, "0.00", id="nothing"),
    ],
)
def test_a_value_is_never_shown_as_its_limit(
    value: float, limit: float, text: str
) -> None:
    assert format_beside(value, limit, places=2) == text


@each_row(
    ("value", "limit", "places", "text"),
    [
        (0.4, 0.3, 0, "40 %"),
        (7 / 20, 0.3, 0, "35 %"),
        (0.304, 0.3, 0, "30.4 %"),
        (0.1023, 0.02, 1, "10.2 %"),
        (0.0204, 0.02, 1, "2.04 %"),
    ],
)
def test_percentages_follow_the_same_rule(
    value: float, limit: float, places: int, text: str
) -> None:
    assert format_percent_beside(value, limit, places=places) == text


def test_limits_are_shown_in_full() -> None:
    assert format_plain(0.4, places=2) == "0.40"
    assert format_plain(0.8125, places=2) == "0.8125"
    assert format_percent(0.3) == "30 %"
    assert format_percent(0.335) == "33.5 %"
    assert format_percent(1.0) == "100 %"


@each_row(
    ("ms", "text"),
    [
        (0, "0 s"),
        (1, "0.001 s"),
        (5_000, "5 s"),
        (90_500, "1 min 30.5 s"),
        (3_600_000, "1 h"),
        (3_660_000, "1 h 1 min"),
        (90_000_000, "25 h"),
    ],
)
def test_durations_are_said_in_hours_minutes_and_seconds(ms: int, text: str) -> None:
    assert format_duration(ms) == text


def test_small_counts_are_words_and_large_ones_figures() -> None:
    assert [format_count(n) for n in (2, 3, 9, 10, 1200)] == [
        "two",
        "three",
        "nine",
        "10",
        "1,200",
    ]
