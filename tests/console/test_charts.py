"""Charts drawn from any figures: always well-formed, never outside their frame."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.charts import (
    BARS,
    StepFigure,
    draw_budget_chart,
    draw_fleet_bar,
    draw_gauge,
    draw_sparkline,
    draw_tokens_chart,
    fit_line,
)

AMOUNTS = st.lists(st.integers(0, 10**12), min_size=1, max_size=100)


def figures(tokens: list[int]) -> list[StepFigure]:
    return [
        StepFigure(number=number, tokens=amount)
        for number, amount in enumerate(tokens, start=1)
    ]


def parse_svg(drawing: str) -> ElementTree.Element:
    return ElementTree.fromstring(drawing)  # noqa: S314 (drawn by us)


def across(drawing: str) -> list[float]:
    return [float(x) for x in re.findall(r'\bx[12]?="(-?[\d.]+)"', drawing)]


def list_points(line: ElementTree.Element) -> list[tuple[float, float]]:
    pairs = (point.split(",") for point in line.attrib["points"].split())
    return [(float(x), float(y)) for x, y in pairs]


@given(tokens=AMOUNTS)
def test_tokens_per_step(tokens: list[int]) -> None:
    drawing = draw_tokens_chart(figures(tokens))
    root = parse_svg(drawing)
    assert len(root.findall("./g/rect")) == min(len(tokens), BARS)
    assert all(0 <= x <= 300 for x in across(drawing))
    assert "style=" not in drawing


@given(tokens=AMOUNTS, limit=st.integers(0, 10**15))
def test_budget_left(tokens: list[int], limit: int) -> None:
    drawing = draw_budget_chart(figures(tokens), used=sum(tokens), limit=limit)
    root = parse_svg(drawing)
    (line,) = root.findall("./polyline")
    points = list_points(line)
    # What was there before the first step, and what was left after each.
    assert len(points) == len(tokens) + 1
    assert all(0 <= x <= 300 and 0 <= y <= 96 for x, y in points)
    assert points == sorted(points)
    assert len(root.findall("./circle[@class='pt']")) == 1
    assert across(drawing)
    assert all(0 <= x <= 300.1 for x in across(drawing))


@given(tokens=AMOUNTS)
def test_sparklines(tokens: list[int]) -> None:
    drawing = draw_sparkline(tokens)
    assert (drawing == "") == (len(tokens) < 2)
    if drawing:
        (line,) = parse_svg(drawing).findall("./polyline")
        points = list_points(line)
        assert len(points) == len(tokens)
        assert all(0 <= x <= 56 and 0 <= y <= 16 for x, y in points)


def test_the_projection_says_where_the_pace_leads() -> None:
    assert "empty at 40" in draw_budget_chart(
        figures([1_000] * 30), used=30_000, limit=40_000
    )
    assert "empty" not in draw_budget_chart(figures([0] * 30), used=0, limit=40_000)


def test_the_line_is_the_least_squares_one() -> None:
    assert fit_line([1, 2, 3, 4]) == pytest.approx((1, 4))
    assert fit_line([5, 5, 5]) == pytest.approx((5, 5))


def test_a_fleet_part_that_exists_can_be_seen() -> None:
    drawing = draw_fleet_bar([("go", 10_000), ("pause", 1), ("slow", 0), ("stop", 1)])
    widths = [float(width) for width in re.findall(r'width="([\d.]+)"', drawing)]
    assert len(widths) == 3
    assert min(widths) >= 4
    assert "bed" in draw_fleet_bar([("go", 0)])


def test_a_gauge_stays_on_its_bed() -> None:
    assert 'width="160.0"' in draw_gauge(share=7.0, tick=0.5)
    assert "tick" not in draw_gauge(share=0.5, tick=None)
