"""Figures beside those of the period before."""

from __future__ import annotations

import pytest

from console.overview.changes import (
    Change,
    compare_amounts,
    compare_counts,
    compare_points,
    compare_shares,
    compare_waits,
    format_difference,
    format_percent_change,
)


@pytest.mark.parametrize(
    ("change", "words", "icon", "tone"),
    [
        (
            compare_amounts(109, 100, was="$1.00"),
            "9 % more than $1.00",
            "up",
            "",
        ),
        (
            compare_amounts(94, 100, was="100", good="less"),
            "6 % less than 100",
            "fall",
            "go",
        ),
        (
            compare_amounts(200, 100, was="100", good="less"),
            "100 % more than 100",
            "up",
            "stop",
        ),
        (
            compare_amounts(200, 100, was="100", good="less", calm=True),
            "100 % more than 100",
            "up",
            "",
        ),
        (
            compare_amounts(94, 100, was="100", good="less", calm=True),
            "6 % less than 100",
            "fall",
            "go",
        ),
        (
            compare_amounts(94, 100, was="100", good="more", less="fewer"),
            "6 % fewer than 100",
            "fall",
            "stop",
        ),
        (compare_amounts(100, 100, was="100"), "as before", "", ""),
        (compare_amounts(100.4, 100, was="100"), "as before", "", ""),
        (compare_amounts(0, 0, was="0"), "as before", "", ""),
        (compare_amounts(3, 0, was="0"), "none before to compare", "", ""),
        (compare_counts(84, 60, good="less"), "24 more than before", "up", "stop"),
        (compare_counts(1, 2, good="less"), "1 fewer than before", "fall", "go"),
        (compare_shares(0.864, 0.841), "2 points better", "up", "go"),
        (compare_shares(0.84, 0.85), "1 point worse", "fall", "stop"),
        (compare_counts(2, 2, good="less"), "as before", "", ""),
        (compare_counts(3, 0, good="more"), "3 more than before", "up", "go"),
        (compare_shares(None, 0.85), "none before to compare", "", ""),
        (compare_shares(0.85, None), "none before to compare", "", ""),
        (compare_shares(0.0, 0.01), "1 point worse", "fall", "stop"),
        (compare_shares(0.851, 0.849), "as before", "", ""),
        (compare_points(None, 0.85), "none before to compare", "", ""),
        (compare_points(0.85, None), "none before to compare", "", ""),
        (compare_points(0.851, 0.849), "as before", "", ""),
        (compare_points(0.86, 0.85), "1 point more than before", "up", ""),
        (compare_points(0.0, 0.85), "85 points fewer than before", "fall", ""),
        (compare_waits(None, 168), "none before to compare", "", ""),
        (compare_waits(168, None), "none before to compare", "", ""),
        (compare_waits(168.4, 167.6), "as before", "", ""),
        (compare_waits(168, 211), "43 s faster", "fall", "go"),
        (compare_waits(211, 168), "43 s slower", "up", "pause"),
    ],
)
def test_a_change_in_words(change: Change, words: str, icon: str, tone: str) -> None:
    assert change == Change(words=words, icon=icon, tone=tone)


def test_differences_have_their_sign() -> None:
    assert [format_difference(each) for each in (22, -3, 0)] == [
        "+22",
        "\N{MINUS SIGN}3",
        "0",
    ]
    assert format_percent_change(1110, 1000) == "+11 % from 1,000"
    assert format_percent_change(3, 0) == ""
