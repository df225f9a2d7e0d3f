"""Figures per reviewer: how much they rule, how fast, and what was regretted later."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Min, Q, QuerySet

from accounts.models import Membership, User
from common.percentiles import Percentiles, read_percentiles
from ledger.chain import format_timestamp
from reviews.models import APPROVING, Review, ReviewState, RulingFact
from reviews.past_rulings.filters import is_read_under
from reviews.past_rulings.outcomes import BAD, has_outcome
from reviews.past_rulings.times import read_times_by

# An approval that was on the screen for so short a time was hardly read.
FAST_MS = 3_000
# Of fewer rulings no share is told: one of them would weigh too much.
MINIMUM = 50
_WEEK = timedelta(weeks=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewerPeriod:
    """Of a project, or of one person in it; `until` itself is not in it."""

    project_id: int
    since: datetime
    until: datetime
    only: int | None = None

    def list_facts(self) -> QuerySet[RulingFact]:
        found = RulingFact.objects.filter(
            project_id=self.project_id, at__gte=self.since, at__lt=self.until
        )
        return found if self.only is None else found.filter(by_id=self.only)


@dataclass(slots=True, kw_only=True)
class RulingFigures:
    """`approvals` let something go on; `fast` and `regretted` are among them."""

    actions: Counter[str] = field(default_factory=Counter)
    fast: int = 0
    regretted: int = 0
    regretted_by: Counter[str] = field(default_factory=Counter)
    median_ms: int | None = None
    p90_ms: int | None = None
    median_read_ms: int | None = None

    @property
    def rulings(self) -> int:
        return self.actions.total()

    @property
    def approvals(self) -> int:
        return sum(self.actions[action] for action in APPROVING)

    @property
    def enough(self) -> bool:
        return self.rulings >= MINIMUM

    def compute_share(self, count: int) -> float | None:
        """Of the approvals; None where there are too few rulings to be fair."""
        if not self.enough or not self.approvals:
            return None
        return round(count / self.approvals, 4)

    def add(self, row: Mapping[str, Any]) -> None:
        self.actions[row["action"]] += row["count"]
        self.fast += row["fast"]
        self.regretted += row["regretted_count"]

    def to_json(self, weeks: float) -> dict[str, Any]:
        return {
            "rulings": self.rulings,
            "per_week": round(self.rulings / weeks, 1),
            "actions": dict(sorted(self.actions.items())),
            "median_ms": self.median_ms,
            "p90_ms": self.p90_ms,
            "median_read_ms": self.median_read_ms,
            "approvals": self.approvals,
            "fast_approvals": self.fast,
            "fast_share": self.compute_share(self.fast),
            "regretted": self.regretted,
            "regretted_share": self.compute_share(self.regretted),
            "regretted_by": {name: self.regretted_by[name] for name in BAD},
        }


@dataclass(slots=True, kw_only=True)
class Reviewer:
    """`claimed` reviews are on their desk now; a role is empty for who has left."""

    user: User
    role: str
    claimed: int
    figures: RulingFigures = field(default_factory=RulingFigures)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewerStatistics:
    """Most rulings first. `total` is None where only one's own figures may be seen."""

    period: ReviewerPeriod
    reviewers: list[Reviewer]
    total: RulingFigures | None
    open: int
    unclaimed: int
    oldest_opened_at: datetime | None

    def to_json(self) -> dict[str, Any]:
        weeks = (self.period.until - self.period.since) / _WEEK
        oldest = self.oldest_opened_at
        return {
            "since": format_timestamp(self.period.since),
            "until": format_timestamp(self.period.until),
            "fast_ms": FAST_MS,
            "minimum": MINIMUM,
            "total": None if self.total is None else self.total.to_json(weeks),
            "reviewers": [
                {
                    "person": reviewer.user.username,
                    "role": reviewer.role or None,
                    "claimed": reviewer.claimed,
                    **reviewer.figures.to_json(weeks),
                }
                for reviewer in self.reviewers
            ],
            "waiting": {
                "open": self.open,
                "unclaimed": self.unclaimed,
                "oldest_opened_at": format_timestamp(oldest) if oldest else None,
            },
        }


def count_reviewers(period: ReviewerPeriod) -> ReviewerStatistics:
    """A handful of queries, however many people and rulings there are."""
    figures: dict[int, RulingFigures] = {}
    total = RulingFigures()
    for row in _count_actions(period):
        figures.setdefault(row["by_id"], RulingFigures()).add(row)
        total.add(row)
    _add_times(period, figures, total)
    _add_regrets(period, figures, total)
    waiting = _count_waiting(period.project_id)
    claims = {row["assignee_id"]: row["count"] for row in waiting}
    shown = {*figures, *(pk for pk in claims if pk is not None)}
    if period.only is not None:
        shown = {period.only}
    oldest = [row["oldest"] for row in waiting]
    return ReviewerStatistics(
        period=period,
        reviewers=_build_reviewers(period, shown, figures, claims),
        total=total if period.only is None else None,
        open=sum(claims.values()),
        unclaimed=claims.get(None, 0),
        oldest_opened_at=min(oldest, default=None),
    )


def _count_actions(period: ReviewerPeriod) -> Iterable[Mapping[str, Any]]:
    approving = Q(action__in=APPROVING)
    rows: Iterable[Mapping[str, Any]] = (
        period.list_facts()
        .values("by_id", "action")
        .annotate(
            count=Count("pk"),
            fast=Count("pk", filter=approving & is_read_under(FAST_MS)),
            regretted_count=Count("pk", filter=Q(regretted=True)),
        )
        .order_by()
    )
    return rows


def _add_times(
    period: ReviewerPeriod, figures: Mapping[int, RulingFigures], total: RulingFigures
) -> None:
    times = _read_times(period)
    for by_id, (_count, (median_ms, p90_ms)) in times.items():
        # Whose first ruling came since the actions were counted is not shown yet.
        mine = total if by_id is None else figures.get(by_id, RulingFigures())
        mine.median_ms, mine.p90_ms = median_ms, p90_ms

    for by_id, (_count, (median_ms,)) in _read_reading_times(period).items():
        mine = total if by_id is None else figures.get(by_id, RulingFigures())
        mine.median_read_ms = median_ms


def _read_reading_times(period: ReviewerPeriod) -> dict[int | None, Percentiles]:
    """Read those that a screen told of."""
    facts = period.list_facts().exclude(read_ms=None)
    mine = read_percentiles(facts, of="read_ms", shares=(50,), by="by_id")
    return {**mine, **read_percentiles(facts, of="read_ms", shares=(50,))}


def _add_regrets(
    period: ReviewerPeriod, figures: Mapping[int, RulingFigures], total: RulingFigures
) -> None:
    """Add what came of the regretted ones, which are few."""
    if not total.regretted:
        return
    regretted = period.list_facts().filter(regretted=True)
    for name in BAD:
        found = regretted.filter(has_outcome((name,))).values_list("by_id")
        for by_id, count in found.annotate(count=Count("pk")).order_by():
            figures.get(by_id, RulingFigures()).regretted_by[name] += count
            total.regretted_by[name] += count


def _read_times(period: ReviewerPeriod) -> dict[int | None, Percentiles]:
    """By person; of everybody under None, where the period is not that of one person."""
    if period.only is None:
        span = period.since, period.until
        return read_times_by("by_id", project_id=period.project_id, span=span)
    facts = period.list_facts()
    return read_percentiles(facts, of="took_ms", shares=(50, 90), by="by_id")


def _count_waiting(project_id: int) -> list[dict[str, Any]]:
    """Open reviews by who has claimed them."""
    rows = (
        Review.objects.filter(project_id=project_id, state=ReviewState.OPEN)
        .values("assignee_id")
        .annotate(count=Count("pk"), oldest=Min("opened_at"))
        .order_by()
    )
    return [dict(row) for row in rows]


def _build_reviewers(
    period: ReviewerPeriod,
    shown: set[int],
    figures: Mapping[int, RulingFigures],
    claims: Mapping[int | None, int],
) -> list[Reviewer]:
    roles = dict(
        Membership.objects.filter(
            project_id=period.project_id, user_id__in=shown
        ).values_list("user_id", "role")
    )
    reviewers = [
        Reviewer(
            user=user,
            role=roles.get(user.pk, ""),
            claimed=claims.get(user.pk, 0),
            figures=figures.get(user.pk) or RulingFigures(),
        )
        for user in User.objects.filter(pk__in=shown)
    ]
    return sorted(
        reviewers, key=lambda each: (-each.figures.rulings, each.user.username)
    )
