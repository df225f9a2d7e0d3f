"""The six figures at the top, each beside that of the period before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.safestring import SafeString

from console.charts.trend import draw_trend
from console.format import format_money, format_seconds
from console.overview.changes import (
    Change,
    compare_amounts,
    compare_counts,
    compare_shares,
    compare_waits,
)
from console.overview.figures import Count, Figures, sum_before, sum_now
from console.overview.links import Links
from console.overview.waits import Waits
from ledger.statistics.totals import Totals

UNKNOWN = "–"
_DOLLAR = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Headline:
    """`value` is a dash where it is not known."""

    name: str
    value: str
    change: Change
    trend: SafeString
    href: str


def list_headlines(
    figures: Figures,
    *,
    waits: Waits,
    opened: Sequence[Count],
    opened_by_time: Sequence[int],
    links: Links,
) -> list[Headline]:
    now, before, period = figures.whole, figures.before, figures.period
    half = waits.whole.p50 if waits.whole else None
    half_before = waits.before.p50 if waits.before else None
    return [
        Headline(
            name="Runs",
            value=f"{now.runs_started:,}",
            change=compare_amounts(
                now.runs_started,
                before.runs_started,
                was=f"{before.runs_started:,}",
                less="fewer",
            ),
            trend=draw_trend(figures.list_values(lambda each: each.runs_started)),
            href=links.list_runs(period=period),
        ),
        Headline(
            name="Accepted",
            value=format_share(compute_accepted(now)),
            change=compare_shares(compute_accepted(now), compute_accepted(before)),
            trend=draw_trend([compute_accepted(each) for each in figures.buckets]),
            href=links.list_runs(period=period, accepted="yes"),
        ),
        Headline(
            name="Spend",
            value=format_spend(now.cost_micros),
            change=compare_amounts(
                now.cost_micros,
                before.cost_micros,
                was=format_spend(before.cost_micros),
            ),
            trend=draw_trend(figures.list_values(lambda each: each.cost_micros)),
            href=links.list_runs(period=period, sort="-cost"),
        ),
        Headline(
            name="Reviews",
            value=f"{sum_now(opened):,}",
            change=compare_amounts(
                sum_now(opened),
                sum_before(opened),
                was=f"{sum_before(opened):,}",
                less="fewer",
                calm=True,
                good="less",
            ),
            trend=draw_trend(list(opened_by_time)),
            href=links.list_rulings(period=period),
        ),
        Headline(
            name="Time to ruling, p50",
            value=UNKNOWN if half is None else format_seconds(half),
            change=compare_waits(half, half_before),
            trend=draw_trend([each.p50 if each else None for each in waits.buckets]),
            href=links.list_rulings(period=period, sort="slowest"),
        ),
        Headline(
            name="Stopped by a gate",
            value=f"{now.steps_stop:,}",
            change=compare_counts(now.steps_stop, before.steps_stop, good="less"),
            trend=draw_trend(figures.list_values(lambda each: each.steps_stop)),
            href=links.list_runs(period=period, status="stopped"),
        ),
    ]


def compute_accepted(totals: Totals) -> float | None:
    """Of the runs that were judged at their end; None where there are none."""
    judged = totals.runs_accepted + totals.runs_not_accepted
    return totals.runs_accepted / judged if judged else None


def format_share(share: float | None, places: int = 0) -> str:
    return UNKNOWN if share is None else f"{100 * share:.{places}f} %"


def format_spend(micros: int) -> str:
    """Whole dollars where there are many of them."""
    if micros >= 100 * _DOLLAR:
        return f"${micros / _DOLLAR:,.0f}"
    return format_money(micros)
