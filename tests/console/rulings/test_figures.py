"""Figures per reviewer as the page shows them: shares, the bar, and where each leads."""

from __future__ import annotations

import re
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qsl

import pytest

from accounts.models import Role, User
from console.rulings.figures import (
    FigureCells,
    build_reviewer_rows,
    build_total_cells,
    build_waiting,
    list_regret_parts,
)
from console.rulings.filters import PageFilters
from reviews.models import APPROVING
from reviews.past_rulings.reviewers import (
    MINIMUM,
    Reviewer,
    ReviewerPeriod,
    ReviewerStatistics,
    RulingFigures,
)

AT = datetime(2026, 11, 17, 12, tzinfo=UTC)
USUAL = PageFilters()


def build_statistics(
    *reviewers: Reviewer, days: float = 14, **more: Any
) -> ReviewerStatistics:
    since = AT - timedelta(days=days)
    given: dict[str, Any] = {
        "total": None,
        "open": 0,
        "unclaimed": 0,
        "oldest_opened_at": None,
        **more,
    }
    period = ReviewerPeriod(project_id=1, since=since, until=AT)
    return ReviewerStatistics(period=period, reviewers=[*reviewers], **given)


def build_reviewer(pk: int, role: str = Role.REVIEWER, **more: Any) -> Reviewer:
    user = User(pk=pk, username=f"user-{pk}")
    return Reviewer(user=user, role=role, claimed=0, **more)


def build_cells(filters: PageFilters = USUAL, **figures: Any) -> FigureCells:
    actions = Counter(figures.pop("actions", {"approve": MINIMUM}))
    total = RulingFigures(actions=actions, **figures)
    cells = build_total_cells(build_statistics(total=total), filters)
    assert cells is not None
    return cells


@pytest.mark.parametrize(
    ("actions", "fast", "said", "many"),
    [
        ({"approve": 50}, 4, "8.0 %", False),
        ({"approve": 50}, 5, "10.0 %", True),
        # One ruling fewer: a share would say too much.
        ({"approve": 49}, 49, "49 of 49", False),
        # A share of what let something go on, not of all that was ruled.
        ({"approve": 10, "amend": 10, "deny": 40}, 5, "25.0 %", True),
        ({"deny": 60}, 0, "–", False),
    ],
)
def test_a_share_is_of_approvals_where_there_are_enough_rulings(
    actions: dict[str, int], fast: int, said: str, many: bool
) -> None:
    cells = build_cells(actions=actions, fast=fast)
    assert (cells.fast, cells.many_fast) == (said, many)
    assert build_cells(actions=actions, regretted=fast).regretted == said


def test_what_was_not_measured_is_a_dash() -> None:
    cells = build_cells(median_ms=None, p90_ms=0, median_read_ms=61_000)
    assert (cells.median, cells.read) == ("–", "1 m 1 s")
    assert cells.p90 != "–"


def test_the_bar_has_a_part_for_each_kind_of_ruling_side_by_side() -> None:
    cells = build_cells(
        actions={"approve": 30, "deny": 10, "answer": 5, "retry": 3, "skip": 2}
    )
    assert cells.actions == (
        "30 approved, 10 denied, 10 answered, sent back or skipped"
    )
    parts = re.findall(r'class="f-(\w+)" x="([\d.]+)%" width="([\d.]+)%"', cells.bar)
    assert [tone for tone, *_ in parts] == ["go", "stop", "n"]
    starts = [float(x) for _, x, _ in parts]
    ends = [float(x) + float(width) for _, x, width in parts]
    assert starts[0] == 0
    assert ends[-1] == pytest.approx(100, abs=0.05)
    gaps = [start - end for start, end in zip(starts[1:], ends[:-1], strict=True)]
    assert gaps == pytest.approx([0.6, 0.6], abs=0.05)


def test_figures_lead_to_lists_of_the_period_alone() -> None:
    """Whatever else the page is narrowed by: the figures are not."""
    filters = PageFilters(period="7d", text="x", chosen={"rule": ("y",)}, sort="oldest")
    cells = build_cells(filters)
    approving = [("action", name) for name in APPROVING]
    period = ("period", "7d")
    assert parse_qsl(cells.rulings_query[1:]) == [period]
    assert parse_qsl(cells.regretted_query[1:]) == [("regretted", "true"), period]
    assert parse_qsl(cells.fast_query[1:]) == [
        *approving,
        ("faster_than_ms", "3000"),
        period,
    ]


def test_rows_are_of_one_person_each() -> None:
    figures = RulingFigures(actions=Counter({"approve": 30}))
    left = build_reviewer(2, role="")
    left.claimed = 3
    statistics = build_statistics(build_reviewer(1, figures=figures), left)
    rows = build_reviewer_rows(statistics, USUAL, viewer_id=2)
    assert [(row.role, row.load, row.claimed, row.own) for row in rows] == [
        ("reviewer", "15 a week", "", False),
        ("left", "0 a week", "3 claimed now", True),
    ]
    queries = [parse_qsl(row.cells.rulings_query[1:]) for row in rows]
    assert queries == [[("by", "user-1")], [("by", "user-2")]]


def test_a_short_period_is_no_less_than_a_day_of_a_week() -> None:
    figures = RulingFigures(actions=Counter({"approve": 3}))
    statistics = build_statistics(build_reviewer(1, figures=figures), days=0)
    (row,) = build_reviewer_rows(statistics, USUAL, viewer_id=1)
    assert row.load == "21 a week"


def test_regretted_parts_are_of_everybody_or_of_the_viewer() -> None:
    regretted = {"aborted": 2, "call-failed": 1, "good": 9}
    figures = RulingFigures(regretted_by=Counter(regretted))
    everybody = build_statistics(build_reviewer(1), total=figures)
    parts = list_regret_parts(everybody, USUAL, viewer="user-1")
    assert [each.words for each in parts] == ["1 call failed", "2 aborted later"]
    assert parse_qsl(parts[0].query[1:]) == [
        ("outcome", "call-failed"),
        ("regretted", "true"),
    ]
    alone = build_statistics(build_reviewer(1, figures=figures))
    (first, _) = list_regret_parts(alone, USUAL, viewer="user-1")
    assert parse_qsl(first.query[1:])[0] == ("by", "user-1")


def test_who_waits_and_for_how_long() -> None:
    busy = build_reviewer(1)
    busy.claimed = 2
    statistics = build_statistics(
        busy,
        build_reviewer(2),
        open=3,
        unclaimed=1,
        oldest_opened_at=AT - timedelta(minutes=5),
    )
    waiting = build_waiting(statistics, slug="shop", at=AT)
    assert (waiting.open, waiting.unclaimed) == ("3 reviews", 1)
    assert waiting.longest == "5 m 0 s"
    assert [claimed for _, claimed in waiting.people] == [2]
    assert build_waiting(build_statistics(), slug="shop", at=AT).longest == ""
