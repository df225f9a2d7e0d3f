"""Figures per reviewer as rows of the page."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime

from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe

from accounts.models import Role
from console.format import format_count, format_elapsed, format_seconds
from console.people import Person, build_person
from console.rulings.filters import OUTCOME_WORDS, PageFilters, change, choose
from reviews.models import APPROVING
from reviews.past_rulings.outcomes import BAD
from reviews.past_rulings.reviewers import (
    FAST_MS,
    ReviewerStatistics,
    RulingFigures,
)

# Parts of the bar: the colour, and the rulings in it.
_PARTS = (
    ("go", ("approve",)),
    ("accent", ("amend",)),
    ("stop", ("deny",)),
    ("stop2", ("abort",)),
    ("n", ("answer", "retry", "skip")),
)
# From here on a share is shown in amber: a hint to look, not a verdict.
_MANY_FAST = 0.1
_GAP = 0.6
_WEEK_S = 604_800


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureCells:
    """What is known of some rulings, each with the address of the list that adds up."""

    rulings: str
    rulings_query: str
    bar: SafeString
    actions: str
    median: str
    p90: str
    read: str
    fast: str
    fast_query: str
    many_fast: bool
    regretted: str
    regretted_query: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewerRow:
    """One person, how busy they are, and whether it is the viewer."""

    person: Person
    username: str
    role: str
    load: str
    claimed: str
    own: bool
    cells: FigureCells


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingNow:
    """How long open reviews wait, and who is on them."""

    open: str
    longest: str
    unclaimed: int
    queue: str
    people: tuple[tuple[Person, int], ...]


def build_reviewer_rows(
    statistics: ReviewerStatistics, filters: PageFilters, *, viewer_id: int
) -> list[ReviewerRow]:
    period = statistics.period
    weeks = max((period.until - period.since).total_seconds() / _WEEK_S, 1 / 7)
    return [
        ReviewerRow(
            person=build_person(reviewer.user),
            username=reviewer.user.username,
            role=Role(reviewer.role).label.lower() if reviewer.role else "left",
            load=f"{reviewer.figures.rulings / weeks:,.0f} a week",
            claimed=f"{reviewer.claimed:,} claimed now" if reviewer.claimed else "",
            own=reviewer.user.pk == viewer_id,
            cells=_build_cells(reviewer.figures, filters, by=(reviewer.user.username,)),
        )
        for reviewer in statistics.reviewers
    ]


def build_total_cells(
    statistics: ReviewerStatistics, filters: PageFilters
) -> FigureCells | None:
    if statistics.total is None:
        return None
    return _build_cells(statistics.total, filters, by=())


@dataclass(frozen=True, slots=True, kw_only=True)
class RegretPart:
    """So many of the regretted ones ended like this, and their list."""

    words: str
    query: str


def list_regret_parts(
    statistics: ReviewerStatistics, filters: PageFilters, *, viewer: str
) -> list[RegretPart]:
    """Build those of everybody, or of the viewer where they see no one else."""
    if statistics.total is not None:
        counts, by = statistics.total.regretted_by, {}
    else:
        mine = [each.figures.regretted_by for each in statistics.reviewers]
        counts, by = sum(mine, Counter[str]()), {"by": (viewer,)}
    regretted = PageFilters(chosen=by, regretted=True, period=filters.period)
    return [
        RegretPart(
            words=f"{counts[name]:,} {OUTCOME_WORDS[name]}",
            query=choose(regretted, "outcome", name).build_query(),
        )
        for name in BAD
        if counts[name]
    ]


def build_waiting(
    statistics: ReviewerStatistics, *, slug: str, at: datetime
) -> WaitingNow:
    oldest = statistics.oldest_opened_at
    return WaitingNow(
        open=format_count(statistics.open, "review"),
        longest=format_seconds((at - oldest).total_seconds()) if oldest else "",
        unclaimed=statistics.unclaimed,
        queue=reverse("console:queue", args=[slug]),
        people=tuple(
            (build_person(each.user), each.claimed)
            for each in statistics.reviewers
            if each.claimed
        ),
    )


def _build_cells(
    figures: RulingFigures, filters: PageFilters, *, by: tuple[str, ...]
) -> FigureCells:
    """The figures are of the period alone, and so are the lists that they lead to."""
    chosen = {"by": by} if by else {}
    every = PageFilters(chosen=chosen, period=filters.period)
    approving = change(every, chosen={**chosen, "action": APPROVING})
    share = figures.compute_share(figures.fast)
    return FigureCells(
        rulings=f"{figures.rulings:,}",
        rulings_query=every.build_query(),
        bar=_draw_bar(figures),
        actions=_describe_actions(figures),
        median=_format_time(figures.median_ms),
        p90=_format_time(figures.p90_ms),
        read=_format_time(figures.median_read_ms),
        fast=_describe_share(figures, figures.fast),
        fast_query=change(approving, faster_than_ms=FAST_MS).build_query(),
        many_fast=share is not None and share >= _MANY_FAST,
        regretted=_describe_share(figures, figures.regretted),
        regretted_query=change(every, regretted=True).build_query(),
    )


def _describe_share(figures: RulingFigures, count: int) -> str:
    """Of few rulings the numbers alone: a share of them would say too much."""
    share = figures.compute_share(count)
    if share is not None:
        return f"{share * 100:.1f} %"
    return f"{count:,} of {figures.approvals:,}" if figures.approvals else "–"


def _format_time(milliseconds: int | None) -> str:
    return "–" if milliseconds is None else format_elapsed(milliseconds)


def _describe_actions(figures: RulingFigures) -> str:
    counts = {
        "approved": figures.actions["approve"],
        "changed": figures.actions["amend"],
        "denied": figures.actions["deny"],
        "aborted": figures.actions["abort"],
        "answered, sent back or skipped": sum(
            figures.actions[action] for action in ("answer", "retry", "skip")
        ),
    }
    return ", ".join(f"{count:,} {word}" for word, count in counts.items() if count)


def _draw_bar(figures: RulingFigures) -> SafeString:
    total = figures.rulings
    parts = [
        (tone, sum(figures.actions[action] for action in actions))
        for tone, actions in _PARTS
    ]
    shown = [(tone, count) for tone, count in parts if count]
    room = 100 - _GAP * (len(shown) - 1)
    x, drawn = 0.0, ""
    for tone, count in shown:
        width = room * count / total
        drawn += (
            f'<rect class="f-{tone}" x="{x:.2f}%" width="{width:.2f}%" '
            'height="8" rx="1.5"/>'
        )
        x += width + _GAP
    return mark_safe(drawn)  # noqa: S308 (numbers and our own tones)
