"""Figures of one week: what the loop decided, what came of it, what it cost."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.db.models import Count, F, Q, QuerySet, Sum

from guidance.core.money import format_usd
from ledger.chain import format_timestamp
from loop.learning.iso_week import Week
from loop.models import Decision

# Texts in these columns are JSON that we wrote: a quote inside a value is escaped, so
# that these can be found nowhere else.
_CAP_MET = Q(guardrails__contains='"rail": "cap"')
_AGREED = Q(shadow__contains='"agrees": true')
_DISAGREED = Q(shadow__contains='"agrees": false')
# Figures that every group of decisions adds to.
_SUMMED = (
    *("cost_micros", "events", "succeeded", "failed", "approvals"),
    *("shadowed", "agreed", "disagreed"),
)


@dataclass(slots=True, kw_only=True)
class Summary:
    """Decisions made in one week; approvals and reports as they are now."""

    week: Week
    decisions: int = 0
    outcomes: dict[str, Counter[str]] = field(
        default_factory=lambda: defaultdict(Counter)
    )
    events: int = 0
    succeeded: int = 0
    failed: int = 0
    cost_micros: int = 0
    caps_hit: Counter[str] = field(default_factory=Counter)
    shadowed: int = 0
    agreed: int = 0
    disagreed: int = 0
    approvals: int = 0
    approved: int = 0
    denied: int = 0
    median: timedelta | None = None

    @property
    def unreported(self) -> int:
        return self.events - self.succeeded - self.failed

    @property
    def waiting(self) -> int:
        return self.approvals - self.approved - self.denied

    @property
    def agreement(self) -> float | None:
        """Share of the decisions where both proposed something; None without any."""
        both = self.agreed + self.disagreed
        return self.agreed / both if both else None

    def to_json(self, *, project: str) -> dict[str, Any]:
        median = self.median
        return {
            "project": project,
            "week": self.week.name,
            "begins": format_timestamp(self.week.begins),
            "ends": format_timestamp(self.week.ends),
            "decisions": self.decisions,
            "outcomes": {
                action: dict(sorted(counts.items()))
                for action, counts in sorted(self.outcomes.items())
            },
            "events": {
                "emitted": self.events,
                "succeeded": self.succeeded,
                "failed": self.failed,
                "unreported": self.unreported,
            },
            "cost_usd": format_usd(self.cost_micros),
            "caps_hit": dict(sorted(self.caps_hit.items())),
            "approvals": {
                "asked": self.approvals,
                "approved": self.approved,
                "denied": self.denied,
                "waiting": self.waiting,
            },
            "shadow": {
                "asked": self.shadowed,
                "agreed": self.agreed,
                "disagreed": self.disagreed,
                "agreement": self.agreement,
            },
            "median_decide_ms": (
                None if median is None else round(median / timedelta(milliseconds=1))
            ),
        }


def build_summary(project_id: int, *, week: Week) -> Summary:
    """Two queries, however many decisions there are."""
    rows = Decision.objects.filter(
        project_id=project_id, decided_at__gte=week.begins, decided_at__lt=week.ends
    )
    summary = Summary(week=week)
    grouped = rows.values("action", "outcome").annotate(
        count=Count("pk"),
        cost_micros=Sum("cost_micros"),
        capped=Count("pk", filter=_CAP_MET),
        events=Count("pk", filter=~Q(event="null")),
        succeeded=Count("pk", filter=Q(reported="succeeded")),
        failed=Count("pk", filter=Q(reported="failed")),
        shadowed=Count("pk", filter=~Q(shadow="null")),
        agreed=Count("pk", filter=_AGREED),
        disagreed=Count("pk", filter=_DISAGREED),
        approvals=Count("pk", filter=Q(approval_required=True)),
    )
    for row in grouped:
        group: dict[str, Any] = dict(row)
        action, outcome, count = group["action"], group["outcome"], group["count"]
        summary.decisions += count
        summary.outcomes[action][outcome] += count
        if group["capped"]:
            summary.caps_hit[action] += group["capped"]
        summary.approved += count if outcome == "approved_and_emitted" else 0
        summary.denied += count if outcome == "approval_denied" else 0
        for name in _SUMMED:
            setattr(summary, name, getattr(summary, name) + group[name])
    summary.median = _find_median(rows, summary.decisions)
    return summary


def _find_median(rows: QuerySet[Decision], count: int) -> timedelta | None:
    """The median time from a trigger's arrival to its decision."""
    if not count:
        return None
    first = (count - 1) // 2
    spans = (
        rows.annotate(took=F("decided_at") - F("signal__received_at"))
        .order_by("took")
        .values_list("took", flat=True)[first : count // 2 + 1]
    )
    middle = list(spans)
    return sum(middle, timedelta()) / len(middle) if middle else None
