"""Scales: round ends, even steps, and every value inside of the plot."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.charts.scale import (
    TOP,
    build_scale,
    build_time_scale,
    choose_places,
    format_short_time,
)


@pytest.mark.parametrize(
    ("highest", "steps"),
    [
        (0, (2, 1, 0)),
        (1, (2, 1, 0)),
        (3, (3, 2, 1, 0)),
        (7, (8, 4, 0)),
        (105, (120, 60, 0)),
        (2_400, (3_000, 2_000, 1_000, 0)),
    ],
)
def test_a_scale_ends_at_a_round_number(highest: int, steps: tuple[float, ...]) -> None:
    assert build_scale(highest, height=100).steps == steps


@given(highest=st.integers(0, 10**12))
def test_whole_numbers_have_whole_steps(highest: int) -> None:
    scale = build_scale(highest, height=100)
    assert all(step == int(step) for step in scale.steps)
    assert scale.steps[0] >= highest
    assert scale.steps[0] <= max(2, highest * 2)


def test_money_may_end_below_a_dollar() -> None:
    assert build_scale(0.031, height=100, whole=False).steps == (0.04, 0.02, 0)


@given(value=st.floats(0, 10**9), highest=st.integers(1, 10**6))
def test_a_value_never_leaves_the_plot(value: float, highest: int) -> None:
    scale = build_scale(highest, height=120)
    assert TOP <= scale.find_y(value) <= scale.base


def test_higher_values_stand_higher() -> None:
    scale = build_scale(100, height=122)
    assert scale.find_y(0) == scale.base == 100
    assert scale.find_y(50) == 54
    assert scale.find_y(100) == TOP


def test_waits_are_drawn_by_their_ratio() -> None:
    scale = build_time_scale([75, 3_000], height=132)
    assert list(scale.steps) == [3_840, 480, 60]
    assert [format_short_time(each) for each in scale.steps] == ["64 m", "8 m", "1 m"]
    low, middle, high = (scale.find_y(each) for each in (60, 480, 3_840))
    assert low - middle == pytest.approx(middle - high)


@pytest.mark.parametrize(
    ("least", "most", "words"),
    [
        (10, 2_000, ["54 m", "3 m", "10 s"]),
        (15, 4_000, ["96 m", "4 m", "10 s"]),
        (70, 200_000, ["10 d", "2 h", "1 m"]),
        (4_000, 90_000, ["36 h", "6 h", "1 h"]),
    ],
)
def test_words_beside_times_are_whole_numbers(
    least: int, most: int, words: list[str]
) -> None:
    scale = build_time_scale([least, most], height=132)

    assert [format_short_time(each) for each in scale.steps] == words


@given(waits=st.lists(st.floats(0, 10**7), max_size=40))
def test_any_waits_have_a_scale(waits: list[float]) -> None:
    scale = build_time_scale(waits, height=132)
    assert scale.steps[0] > scale.steps[1] > scale.steps[2] >= 1
    assert all(TOP <= scale.find_y(each) <= scale.base for each in waits)


def test_short_times_have_one_unit() -> None:
    words = {1: "1 s", 10: "10 s", 60: "1 m", 100: "100 s", 3_600: "1 h", 86_400: "1 d"}
    assert {each: format_short_time(each) for each in words} == words


def test_words_below_have_the_first_and_the_last() -> None:
    assert list(choose_places(30, wanted=5)) == [0, 7, 14, 22, 29]
    assert list(choose_places(3, wanted=5)) == [0, 1, 2]
