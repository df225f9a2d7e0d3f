"""Interruptions: reviews that agents opened, for each hour that their runs were running."""

from __future__ import annotations

from dataclasses import dataclass

from console.charts.lines import Line, draw_lines, find_x
from console.charts.plot import Mark, Plot, Tick
from console.charts.scale import build_scale, choose_places
from console.format import format_count, format_seconds
from console.overview.changes import NOT_KNOWN, Change, compare_amounts
from console.overview.decisions import describe_place
from console.overview.figures import Figures
from console.overview.headline import UNKNOWN
from console.overview.links import Links
from ledger.statistics.totals import Totals

HEIGHT = 132
# Of fewer hours of work nothing is told: one review would be many in an hour.
HOURS_LEAST = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class InterruptionCard:
    """`every` is the time of work between two of them; `plot` is None where there were
    none, `is_known` false where too little was worked to say."""

    rate: str
    is_known: bool
    reviews: str
    hours: str
    every: str
    change: Change
    plot: Plot | None
    href: str
    href_runs: str


def build_interruption_card(figures: Figures, *, links: Links) -> InterruptionCard:
    whole, period = figures.whole, figures.period
    rate, before = compute_rate(whole), compute_rate(figures.before)
    known = rate is not None and before is not None
    return InterruptionCard(
        rate=format_rate(rate),
        is_known=rate is not None,
        reviews=f"{whole.reviews_opened:,}",
        hours=_format_hours(whole.running_hours),
        every=format_seconds(3600 / rate) if rate else UNKNOWN,
        change=compare_amounts(
            rate or 0, before or 0, was=format_rate(before), good="less", calm=True
        )
        if known
        else Change(words=NOT_KNOWN),
        plot=_draw(figures, links) if rate else None,
        href=links.list_rulings(period=period),
        href_runs=links.list_runs(period=period),
    )


def compute_rate(totals: Totals) -> float | None:
    """For each hour of work; None where there was too little."""
    hours = totals.running_hours
    return totals.reviews_opened / hours if hours >= HOURS_LEAST else None


def format_rate(rate: float | None) -> str:
    if not rate:
        return UNKNOWN if rate is None else "0"
    return f"{rate:,.0f}" if rate >= 100 else f"{rate:.{1 if rate >= 10 else 2}f}"


def _format_hours(hours: float) -> str:
    return f"{hours:,.0f} h" if hours >= 10 else f"{hours:.1f} h"


def _draw(figures: Figures, links: Links) -> Plot:
    period = figures.period
    rates = [compute_rate(each) for each in figures.buckets]
    known = [each for each in rates if each is not None]
    scale = build_scale(max(known, default=0), height=HEIGHT, whole=False)
    marks: list[Mark | None] = []
    rows: list[tuple[str, ...]] = []
    for place, (rate, totals) in enumerate(zip(rates, figures.buckets, strict=True)):
        if rate is None:
            marks.append(None)
            continue
        name, hours = period.name_bucket(place), _format_hours(totals.running_hours)
        reviews = format_count(totals.reviews_opened, "review")
        said = f"{name}: {format_rate(rate)} per agent hour, {reviews} in {hours}"
        marks.append(Mark(title=said, href=links.list_rulings(period=period)))
        rows.append((name, f"{totals.reviews_opened:,}", hours, format_rate(rate)))
    return Plot(
        steps=tuple(f"{each:g}" for each in scale.steps),
        drawing=draw_lines(
            [Line(tone="accent", values=rates, dotted=True)],
            scale=scale,
            about="Interruptions for each hour that agents worked, over time",
            ticks=[
                Tick(x=find_x(place, period.count), text=describe_place(period, place))
                for place in choose_places(period.count, wanted=3)
            ],
            marks=marks,
        ),
        columns=(
            "Hour" if period.is_hourly else "Day",
            "Reviews",
            "Agents worked",
            "Per agent hour",
        ),
        rows=tuple(rows),
    )
