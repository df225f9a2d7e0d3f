"""The trade-off of a limit as a chart and as a table: for each value, what it catches and
whom it holds in vain.

Two panels with a scale each, as the one is counted in a few aborts and the other may be
counted in thousands. Places are in per cent across and in pixels down, so that text keeps
its size.
"""

from __future__ import annotations

from dataclasses import dataclass

from console.format import format_count
from guidance.core.suggestions.limits import Limit, Number, get_limit
from reviews.policies.suggestions.sentences import Item, describe_limit, format_limit

# Inside a panel it is so wide; how high a panel is depends on the page.
WIDTH = 1000
LOW, HIGH = 72, 124
# The room for the words above each panel, and below the last one.
_HEAD, _GAP, _FOOT = 22, 34, 26
# What is done in vain, by what the gate leads to.
IN_VAIN = {
    "pause": "Asked in vain",
    "stop": "Stopped in vain",
    "throttle": "Slowed in vain",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A value on the line of a panel."""

    x: float
    y: float
    about: str
    tone: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """`points` are inside the panel, `marks` in the whole chart."""

    title: str
    tone: str
    top: int
    height: int
    points: str
    most: str
    marks: tuple[Mark, ...]

    @property
    def base(self) -> int:
        return self.top + self.height

    @property
    def head(self) -> int:
        """Where its words stand."""
        return self.top - 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    x: float
    anchor: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PointRow:
    """Values next to each other that come to the same."""

    values: str
    caught: int
    in_vain: int
    mark: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TradeOffChart:
    about: str
    panels: tuple[Panel, ...]
    ticks: tuple[Tick, ...]
    today: str
    suggested: str
    today_x: float
    suggested_x: float | None
    vain: str
    rows: tuple[PointRow, ...]

    @property
    def top(self) -> int:
        return self.panels[0].top

    @property
    def base(self) -> int:
        return self.panels[-1].base

    @property
    def foot(self) -> int:
        return self.base + 19

    @property
    def height(self) -> int:
        return self.base + _FOOT


@dataclass(frozen=True, slots=True)
class _Scale:
    """From the values of a limit to places across the chart."""

    limit: Limit
    low: Number
    high: Number

    def find_x(self, value: Number | str) -> float:
        span = (self.high - self.low) or 1
        return round(100 * (self.limit.read_value(value) - self.low) / span, 2)


def build_chart(item: Item, *, height: int = LOW) -> TradeOffChart:
    """`height` is that of one of its two panels."""
    limit = get_limit(item["setting"])
    points = sorted(item["points"], key=lambda each: limit.read_value(each["value"]))
    values = [limit.read_value(each["value"]) for each in points]
    scale = _Scale(limit, values[0], values[-1])
    suggested = item["suggested"]
    return TradeOffChart(
        about=describe_limit(item),
        panels=(
            _build_panel(item, points, scale, "caught", height),
            _build_panel(item, points, scale, "in_vain", height),
        ),
        ticks=_list_ticks(item, points, scale),
        today=format_limit(item, item["today"]),
        suggested="" if suggested is None else format_limit(item, suggested),
        today_x=scale.find_x(item["today"]),
        suggested_x=None if suggested is None else scale.find_x(suggested),
        vain=IN_VAIN[item["decision"]],
        rows=tuple(_list_rows(item, points)),
    )


def _build_panel(
    item: Item, points: list[Item], scale: _Scale, name: str, height: int
) -> Panel:
    caught = name == "caught"
    highest: int = item["stopped"] if caught else max(each[name] for each in points)
    most = max(1, highest)
    title = (
        f"Caught, of {format_count(item['stopped'], 'run')} that people aborted"
        if caught
        else f"{IN_VAIN[item['decision']]}, times"
    )
    top = _HEAD if caught else _HEAD + height + _GAP

    def find_y(count: int) -> float:
        return round(height - height * count / most, 1)

    drawn, before = [], None
    for each in points:
        x, y = round(scale.find_x(each["value"]) * WIDTH / 100, 1), find_y(each[name])
        if before is not None and before != y:
            drawn.append(f"{x},{before}")
        drawn.append(f"{x},{y}")
        before = y
    marks = [
        Mark(
            x=scale.find_x(each["value"]),
            y=top + find_y(each[name]),
            about=f"{word} {format_limit(item, each['value'])}: {each[name]:,}",
            tone=word,
        )
        for each in points
        for word in ("today", "suggested")
        if each["value"] == item[word]
    ]
    return Panel(
        title=title,
        tone="caught" if caught else "vain",
        top=top,
        height=height,
        points=" ".join(drawn),
        most=f"{most:,}",
        marks=tuple(marks),
    )


def _list_ticks(item: Item, points: list[Item], scale: _Scale) -> tuple[Tick, ...]:
    """The first, the last, and three between."""
    last = len(points) - 1
    places = sorted({0, last // 4, last // 2, 3 * last // 4, last})
    return tuple(
        Tick(
            x=scale.find_x(points[place]["value"]),
            anchor={0: "start", last: "end"}.get(place, "middle"),
            text=format_limit(item, points[place]["value"]),
        )
        for place in places
    )


def _list_rows(item: Item, points: list[Item]) -> list[PointRow]:
    rows: list[PointRow] = []
    groups: list[list[Item]] = []
    for each in points:
        alone = each["value"] in (item["today"], item["suggested"])
        if groups and not alone and _is_same(groups[-1][-1], each, item):
            groups[-1].append(each)
        else:
            groups.append([each])
    for group in groups:
        first, last = (format_limit(item, group[end]["value"]) for end in (0, -1))
        mark = next(
            (
                word
                for word in ("suggested", "today")
                if group[0]["value"] == item[word]
            ),
            "",
        )
        rows.append(
            PointRow(
                values=first if first == last else f"{first} – {last}",
                caught=group[0]["caught"],
                in_vain=group[0]["in_vain"],
                mark=mark,
            )
        )
    return rows


def _is_same(before: Item, after: Item, item: Item) -> bool:
    """What is marked stands in a row of its own."""
    return before["value"] not in (item["today"], item["suggested"]) and (
        (before["caught"], before["in_vain"]) == (after["caught"], after["in_vain"])
    )
