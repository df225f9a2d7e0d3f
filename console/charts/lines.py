"""Lines over time: with an area, a limit, a projection and the period before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from console.charts.plot import Mark, Tick, build_plot, draw_frame, link_mark
from console.charts.scale import Scale

# Inside the drawing of the lines it is so wide, however wide the page is.
_WIDTH = 1000
_EMPTY = SafeString("")
# The words at the end of a line are about this part of it long.
_LABEL_SHARE = 10
Point = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One value for each place, None where it is not known.

    `tone` is that of its class: "accent", "ink", "prev" for the period before, "proj" for
    a projection. `label` stands at its end, above or `below` it.
    """

    tone: str
    values: Sequence[float | None]
    label: str = ""
    label_tone: str = ""
    below: bool = False
    filled: bool = False
    dotted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """`reached` is the place, perhaps between two, where the projection meets it."""

    value: float
    label: str
    reached: float | None = None


def draw_lines(
    lines: Sequence[Line],
    *,
    scale: Scale,
    about: str,
    ticks: Sequence[Tick] = (),
    marks: Sequence[Mark | None] = (),
    limit: Limit | None = None,
) -> SafeString:
    """All lines have as many places; a mark belongs to each place that has something."""
    count = max((len(line.values) for line in lines), default=0)
    return build_plot(
        (
            draw_frame(scale, ticks),
            _draw_inner(lines, scale, count),
            _draw_limit(limit, scale, count) if limit else _EMPTY,
            *(_draw_end(line, scale, count) for line in lines),
            *_draw_marks(marks, scale, count),
        ),
        scale=scale,
        about=about,
    )


def find_x(place: float, count: int) -> float:
    """Per cent across: the first place is at the left edge, the last at the right."""
    return round(100 * place / (count - 1), 2) if count > 1 else 50.0


def _draw_inner(lines: Sequence[Line], scale: Scale, count: int) -> SafeString:
    drawn = [
        _draw_stretch(line, points, scale)
        for line in lines
        for points in _list_stretches(line, scale, count)
    ]
    return format_html(
        '<svg width="100%" height="{0}" viewBox="0 0 {1} {0}" '
        'preserveAspectRatio="none" aria-hidden="true">{2}</svg>',
        scale.height,
        _WIDTH,
        format_html_join("", "{}", ((each,) for each in drawn)),
    )


def _draw_stretch(line: Line, points: Sequence[Point], scale: Scale) -> SafeString:
    # A place alone would be invisible: it is drawn as a short line.
    if len(points) == 1:
        (x, y) = points[0]
        points = [(max(x - 4, 0), y), (min(x + 4, _WIDTH), y)]
    path = " ".join(f"{x:g},{y:g}" for x, y in points)
    drawn = format_html('<polyline class="l-{}" points="{}"/>', line.tone, path)
    if not line.filled:
        return drawn
    ends = (points[0][0], scale.base, path, points[-1][0], scale.base)
    area = "{:g},{:g} {} {:g},{:g}".format(*ends)
    return format_html('<polygon class="a-{}" points="{}"/>{}', line.tone, area, drawn)


def _list_stretches(line: Line, scale: Scale, count: int) -> Iterator[list[Point]]:
    """The places that follow each other without a gap."""
    points: list[Point] = []
    for place, value in enumerate(line.values):
        if value is not None:
            x = find_x(place, count) * _WIDTH / 100
            points.append((round(x, 2), scale.find_y(value)))
        elif points:
            yield points
            points = []
    if points:
        yield points


def _draw_limit(limit: Limit, scale: Scale, count: int) -> SafeString:
    y = scale.find_y(limit.value)
    drawn = format_html(
        '<line class="limit" x1="0" x2="100%" y1="{0}" y2="{0}"/>'
        '<text class="t-stop halo" x="0" y="{1}" aria-hidden="true">{2}</text>',
        y,
        round(y - 5, 2),
        limit.label,
    )
    if limit.reached is None:
        return drawn
    return format_html(
        '{}<circle class="ring" cx="{}%" cy="{}" r="3.2"/>',
        drawn,
        find_x(limit.reached, count),
        y,
    )


def _draw_end(line: Line, scale: Scale, count: int) -> SafeString:
    """The dot and the words at the last place that is known."""
    known = [place for place, value in enumerate(line.values) if value is not None]
    if not known:
        return _EMPTY
    place = known[-1]
    x, y = find_x(place, count), scale.find_y(line.values[place] or 0)
    dot = (
        format_html('<circle class="dot {}" cx="{}%" cy="{}" r="3"/>', line.tone, x, y)
        if line.dotted
        else _EMPTY
    )
    if not line.label:
        return dot
    end = x > 30
    beside = [scale.find_y(value) for value in _list_last(line.values, place)]
    clear = max(beside) + 14 if line.below else min(beside) - 6
    return format_html(
        '{}<text class="{} halo" x="{}%" y="{}" text-anchor="{}" aria-hidden="true">{}</text>',
        dot,
        line.label_tone,
        round(x - 1.5 if end else x + 1.5, 2),
        round(max(clear, 10), 2),
        "end" if end else "start",
        line.label,
    )


def _list_last(values: Sequence[float | None], place: int) -> list[float]:
    """What lies beside the words at the end: they must not cover it."""
    first = max(place - len(values) // _LABEL_SHARE, 0)
    return [value for value in values[first : place + 1] if value is not None]


def _draw_marks(
    marks: Sequence[Mark | None], scale: Scale, count: int
) -> Iterator[SafeString]:
    """A column over each place, which shows itself under the pointer."""
    width = 100 / max(count, 1)
    for place, mark in enumerate(marks):
        if mark is None:
            continue
        left = max(find_x(place, count) - width / 2, 0.0)
        column = format_html(
            '<rect class="hit" x="{}%" width="{}%" y="0" height="{}"/>',
            round(left, 2),
            round(min(width, 100 - left), 2),
            scale.base,
        )
        yield link_mark(mark, column)
