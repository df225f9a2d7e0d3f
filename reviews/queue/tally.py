"""How many open reviews a list has, in all and by severity: the same question as the list."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import datetime

from django.db.models import Count, Min, Q
from django.utils import timezone

from ledger.run_list.scope import Scope
from reviews.models import ReviewState, Severity
from reviews.queue.filters import ReviewFilter, filter_reviews
from reviews.queue.places import count_microseconds
from reviews.queue.subjects import get_severity_rank

SHOWS = ("all", "mine", "unclaimed", "overdue", "snoozed")
SEVERITIES = tuple(Severity.values)
_NONE = (0,) * len(SEVERITIES)
# Not set aside.
_HERE = Q(snoozed_until__isnull=True)
# By severity, the most severe first.
Counts = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """`counts` are by the code of who claimed them, `late` those that are past their time, `snoozed` those
    that are set aside: they count nowhere else.
    `next_late_at` is when another one will be, in microseconds; 0 where none will."""

    counts: dict[str, Counts]
    late: Counts = field(default=_NONE)
    snoozed: Counts = field(default=_NONE)
    next_late_at: int = 0

    @property
    def total(self) -> int:
        return sum(map(sum, self.counts.values()))

    @property
    def open(self) -> int:
        """Count all that is open: what is set aside is open, too."""
        return self.total + sum(self.snoozed)

    @property
    def counts_json(self) -> str:
        return json.dumps(
            {
                "counts": self.counts,
                "late": self.late,
                "snoozed": self.snoozed,
                "nextLate": self.next_late_at // 1000,
            }
        )

    def count_severities(self, *, show: str, viewer: str) -> Counts:
        """How many of each severity this person's list has, the most severe first."""
        if show == "overdue":
            return self.late
        if show == "snoozed":
            return self.snoozed
        if show == "all":
            found = list(self.counts.values())
        else:
            found = [self.counts.get(viewer if show == "mine" else "", _NONE)]
        return tuple(map(sum, zip(_NONE, *found, strict=True)))

    def count_shown(self, *, show: str, viewer: str) -> int:
        return sum(self.count_severities(show=show, viewer=viewer))


def count_reviews(
    *,
    project_id: int,
    wanted: ReviewFilter | None = None,
    at: datetime | None = None,
) -> Tally:
    """Of the open ones that the filter lets in; from an index alone where nothing is
    filtered."""
    at = at or timezone.now()
    scope = Scope(project_ids=(project_id,))
    found = filter_reviews(scope, wanted or ReviewFilter(state=ReviewState.OPEN), at=at)
    found = found.order_by()
    rows = found.values_list("assignee__code", "urgency").annotate(
        count=Count("code", filter=_HERE),
        snoozed=Count("code", filter=~_HERE),
        late=Count("code", filter=_HERE & Q(answer_by__lte=at)),
        next_late=Min("answer_by", filter=_HERE & Q(answer_by__gt=at)),
    )
    counts: dict[str, list[int]] = {}
    late, aside, coming = [*_NONE], [*_NONE], []
    for assignee, urgency, count, snoozed, overdue, next_late in rows:
        rank = get_severity_rank(urgency)
        counts.setdefault(str(assignee or ""), [*_NONE])[rank] += count
        late[rank] += overdue
        aside[rank] += snoozed
        coming += [count_microseconds(next_late)] if next_late else []
    return Tally(
        counts={code: tuple(each) for code, each in counts.items()},
        late=tuple(late),
        snoozed=tuple(aside),
        next_late_at=min(coming, default=0),
    )
