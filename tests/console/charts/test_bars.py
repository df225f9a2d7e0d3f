"""Bars: as high as their counts, the worst on top, and nothing too thin to see."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.charts.bars import Bar, draw_share, draw_split_bar, draw_stacked_bars
from console.charts.plot import Mark
from console.charts.scale import build_scale
from console.charts.trend import draw_trend
from tests.console.charts.reading import list_points, parse_svg, read_percent

TONES = ("slow", "pause", "stop")
COUNTS = st.tuples(*[st.integers(0, 500)] * 3)


def build_bar(*counts: int) -> Bar:
    return Bar(counts=counts, mark=Mark(title="17 Nov", href="/runs"))


@given(stacks=st.lists(COUNTS, min_size=1, max_size=12))
def test_any_stack_stays_in_the_frame(stacks: list[tuple[int, int, int]]) -> None:
    scale = build_scale(max(map(sum, stacks)), height=182)
    drawing = draw_stacked_bars(
        [build_bar(*each) for each in stacks], tones=TONES, scale=scale, about="Held"
    )
    root = parse_svg(drawing)
    assert "viewBox" not in root.attrib
    assert len(list(root.iter("a"))) == len(stacks)
    for link, counts in zip(root.iter("a"), stacks, strict=True):
        parts = [each for each in link.iter("rect") if each.get("class") != "hit"]
        assert len(parts) == sum(count > 0 for count in counts)
        tops = [float(each.attrib["y"]) for each in parts]
        assert tops == sorted(tops, reverse=True), "the worst stands on top"
        assert all(float(each.attrib["height"]) >= 1 for each in parts)
        assert all(
            float(each.attrib["y"]) + float(each.attrib["height"]) <= scale.base + 0.01
            for each in parts
        )


def test_a_bar_is_as_high_as_its_count() -> None:
    scale = build_scale(100, height=122)
    drawing = draw_stacked_bars(
        [build_bar(50, 0, 0)], tones=TONES, scale=scale, about="Held"
    )
    (part,) = [
        each
        for each in parse_svg(drawing).iter("rect")
        if each.get("class") == "f-slow"
    ]
    assert float(part.attrib["height"]) == pytest.approx(scale.base - scale.find_y(50))


@given(parts=st.lists(st.integers(0, 10**6), min_size=1, max_size=6))
def test_parts_of_a_whole_fill_it(parts: list[int]) -> None:
    drawing = draw_split_bar([("go", count) for count in parts], height=6)
    drawn = [
        tuple(read_percent(each.attrib[name]) for name in ("x", "width"))
        for each in parse_svg(drawing).iter("rect")
    ]
    assert len(drawn) == sum(count > 0 for count in parts)
    if drawn:
        assert sum(drawn[-1]) == pytest.approx(100, abs=0.1)
        assert all(width >= 1.4 for _, width in drawn)


def test_a_share_is_cut_at_the_whole() -> None:
    widths = [
        parse_svg(draw_share(share)).findall("rect")[1].attrib["width"]
        for share in (-1, 0.5, 1.7)
    ]
    assert widths == ["0.0%", "50.0%", "100.0%"]


@given(values=st.lists(st.one_of(st.none(), st.floats(0, 10**9)), max_size=30))
def test_a_trend_of_any_values(values: list[float | None]) -> None:
    drawing = draw_trend(values)
    known = sum(value is not None for value in values)
    assert (drawing == "") == (known < 2)
    if drawing:
        (line,) = parse_svg(drawing).iter("polyline")
        points = list_points(line)
        assert len(points) == known
        assert all(0 <= x <= 52 and 0 <= y <= 20 for x, y in points)
