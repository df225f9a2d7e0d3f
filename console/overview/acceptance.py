"""Runs that were judged at their end: accepted, or failed by which evaluators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.safestring import SafeString

from console.charts.bars import draw_split_bar
from console.overview.changes import format_difference
from console.overview.figures import Count, Figures
from console.overview.headline import compute_accepted, format_share
from console.overview.links import Links
from safetext import make_visible_line

SHOWN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluatorRow:
    name: str
    count: str
    change: str
    href: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptanceCard:
    """`disproved` said that they were completed, and were found not to be."""

    judged: int
    accepted: str
    finished: str
    share: str
    disproved: str
    bar: SafeString
    rows: tuple[EvaluatorRow, ...]
    href: str
    href_not: str
    href_finished: str


def build_acceptance_card(
    figures: Figures,
    *,
    failed: Sequence[Count],
    disproved: int,
    links: Links,
) -> AcceptanceCard:
    whole, period = figures.whole, figures.period
    not_accepted = links.list_runs(period=period, accepted="no")
    judged = whole.runs_accepted + whole.runs_not_accepted
    return AcceptanceCard(
        judged=judged,
        accepted=f"{whole.runs_accepted:,}",
        finished=f"{judged:,}",
        share=format_share(compute_accepted(whole), 1),
        disproved=f"{disproved:,}",
        bar=draw_split_bar(
            [("go", whole.runs_accepted), ("stop", whole.runs_not_accepted)], height=8
        ),
        rows=tuple(
            EvaluatorRow(
                name=make_visible_line(each.key),
                count=f"{each.now:,}",
                change=format_difference(each.change),
                href=not_accepted,
            )
            for each in failed[:SHOWN]
            if each.now
        ),
        href=links.list_runs(period=period, accepted="yes"),
        href_not=not_accepted,
        href_finished=links.list_runs(period=period, status=("completed", "failed")),
    )
