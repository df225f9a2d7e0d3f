"""Lines: each place where it belongs, gaps left open, every mark a link that speaks."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from console.charts.lines import Limit, Line, draw_lines
from console.charts.plot import Mark, Tick
from console.charts.scale import build_scale
from tests.console.charts.reading import list_points, parse_svg, read_percent

SCALE = build_scale(100, height=122)
VALUES = st.lists(st.one_of(st.none(), st.floats(0, 200)), min_size=1, max_size=30)


@given(values=VALUES)
def test_any_values_stay_in_the_frame(values: list[float | None]) -> None:
    line = Line(tone="accent", values=values, filled=True, dotted=True, label="now")
    drawing = draw_lines([line], scale=SCALE, about="Spend")
    root = parse_svg(drawing)
    assert "viewBox" not in root.attrib, "words would be stretched"
    assert "style=" not in drawing
    points = [point for each in root.iter("polyline") for point in list_points(each)]
    assert all(0 <= x <= 1000 and 0 <= y <= 122 for x, y in points)
    known = sum(value is not None for value in values)
    assert len(points) >= known


def test_a_gap_is_left_open() -> None:
    line = Line(tone="ink", values=[10, 20, None, 40, 50])
    drawn = parse_svg(draw_lines([line], scale=SCALE, about="Waits")).iter("polyline")
    assert [[x for x, _ in list_points(each)] for each in drawn] == [
        [0, 250],
        [750, 1000],
    ]


def test_a_limit_has_its_words_and_where_it_is_reached() -> None:
    drawing = draw_lines(
        [Line(tone="accent", values=[0, 20, 40, None, None])],
        scale=SCALE,
        about="Spend",
        limit=Limit(value=80, label="limit $80", reached=4),
    )
    root = parse_svg(drawing)
    line = next(each for each in root.iter("line") if each.get("class") == "limit")
    ring = next(each for each in root.iter("circle") if each.get("class") == "ring")
    assert line.get("y1") == ring.get("cy") == str(SCALE.find_y(80))
    assert ring.get("cx") == "100.0%"
    assert "limit $80" in drawing


def test_every_mark_is_a_link_with_its_words() -> None:
    marks = [
        Mark(title=f"day {day}: <b> & co", href=f"/runs?q=a&day={day}")
        for day in range(3)
    ]
    drawing = draw_lines(
        [Line(tone="accent", values=[1, 2, 3])],
        scale=SCALE,
        about="Spend",
        marks=[marks[0], None, marks[2]],
    )
    links = list(parse_svg(drawing).iter("a"))
    assert [link.get("href") for link in links] == [
        "/runs?q=a&day=0",
        "/runs?q=a&day=2",
    ]
    assert [link.findtext("title") for link in links] == [
        "day 0: <b> & co",
        "day 2: <b> & co",
    ]
    for link in links:
        column = link.find("rect")
        assert column is not None
        x, width = (read_percent(column.attrib[name]) for name in ("x", "width"))
        assert 0 <= x <= x + width <= 100.01


def test_words_at_the_edges_point_inward() -> None:
    anchors = [Tick(x=x, text="").anchor for x in (0, 50, 100)]
    assert anchors == ["start", "middle", "end"]
