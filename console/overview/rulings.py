"""Time to ruling: half and nine in ten of them, by hour or day and by severity."""

from __future__ import annotations

from dataclasses import dataclass

from console.charts.lines import Line, draw_lines, find_x
from console.charts.plot import Mark, Plot, Tick
from console.charts.scale import build_time_scale, choose_places, format_short_time
from console.format import format_count, format_seconds
from console.overview.decisions import describe_place
from console.overview.headline import UNKNOWN
from console.overview.links import Links
from console.overview.period import Period
from console.overview.waits import Wait, Waits
from guidance.core.checks import SEVERITIES

HEIGHT = 132


@dataclass(frozen=True, slots=True, kw_only=True)
class RulingCard:
    """`severities` are (name, time, address); `plot` is None where nobody ruled."""

    total: str
    half: str
    most: str
    unanswered: str
    plot: Plot | None
    severities: tuple[tuple[str, str, str], ...]
    href: str


def build_ruling_card(
    waits: Waits, *, period: Period, unanswered: int, links: Links
) -> RulingCard:
    whole = waits.whole
    return RulingCard(
        total=f"{whole.rulings:,}" if whole else "0",
        half=format_seconds(whole.p50) if whole else UNKNOWN,
        most=format_seconds(whole.p90) if whole else UNKNOWN,
        unanswered=f"{unanswered:,}",
        plot=_draw(waits, period, links) if whole else None,
        severities=tuple(
            (
                severity,
                format_seconds(waits.severities[severity].p50)
                if severity in waits.severities
                else UNKNOWN,
                links.list_rulings(period=period, severity=severity),
            )
            for severity in SEVERITIES
        ),
        href=links.list_rulings(period=period),
    )


def _draw(waits: Waits, period: Period, links: Links) -> Plot:
    known = [each for each in waits.buckets if each]
    times = [time for each in known for time in (each.p50, each.p90)]
    scale = build_time_scale(times, height=HEIGHT)
    marks = [
        _build_mark(wait, period, place, links)
        for place, wait in enumerate(waits.buckets)
    ]
    return Plot(
        steps=tuple(map(format_short_time, scale.steps)),
        drawing=draw_lines(
            [
                Line(
                    tone="ink",
                    values=[each.p90 if each else None for each in waits.buckets],
                    label="p90",
                    label_tone="em",
                    dotted=True,
                ),
                Line(
                    tone="accent",
                    values=[each.p50 if each else None for each in waits.buckets],
                    label="p50",
                    label_tone="t-accent",
                    below=True,
                    dotted=True,
                ),
            ],
            scale=scale,
            about="Time to ruling, p50 and p90, over time",
            ticks=[
                Tick(x=find_x(place, period.count), text=describe_place(period, place))
                for place in choose_places(period.count, wanted=3)
            ],
            marks=marks,
        ),
        columns=(
            "Hour" if period.is_hourly else "Day",
            "Rulings",
            "Half within",
            "Nine in ten within",
        ),
        rows=tuple(
            (
                period.name_bucket(place),
                f"{wait.rulings:,}",
                format_seconds(wait.p50),
                format_seconds(wait.p90),
            )
            for place, wait in enumerate(waits.buckets)
            if wait
        ),
    )


def _build_mark(
    wait: Wait | None, period: Period, place: int, links: Links
) -> Mark | None:
    if wait is None:
        return None
    half, most = format_seconds(wait.p50), format_seconds(wait.p90)
    rulings = format_count(wait.rulings, "ruling")
    return Mark(
        title=f"{period.name_bucket(place)}: {rulings}, half within {half}, "
        f"nine in ten within {most}",
        href=links.list_rulings(period=period),
    )
