"""Which rules are broken: how often, how severely, and with how much rework."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import (
    Avg,
    Case,
    Count,
    F,
    FloatField,
    Q,
    QuerySet,
    Sum,
    Value,
    When,
)
from django.db.models.functions import Cast, Coalesce, Least

from guidance.core.outcomes.severity import HALF, SEVERITIES, WEIGHTS
from ledger.models import Run, RunOutcome
from ledger.selectors import exclude_system_runs
from reviews.models import Violation, ViolationSource

# A run with so many lines of rework doubles what its violations weigh; more adds nothing.
REWORK_DOUBLES = 100
_REWORK = F("run__outcome__rework_lines")
_WEIGHT = Case(
    *(When(severity=name, then=Value(weight)) for name, weight in WEIGHTS.items()),
    default=Value(0.0),
    output_field=FloatField(),
)
_CORRECTED = Case(
    When(auto_corrected=True, then=Value(HALF)),
    default=Value(1.0),
    output_field=FloatField(),
)
_FACTOR = Value(1.0) + Cast(
    Least(Coalesce(_REWORK, 0), REWORK_DOUBLES), FloatField()
) / Value(float(REWORK_DOUBLES))


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """Of one project, perhaps of one agent; `until` itself is not in it."""

    project_id: int
    since: datetime
    until: datetime
    agent: str | None = None

    def list_violations(self) -> QuerySet[Violation]:
        found = Violation.objects.filter(
            project_id=self.project_id, at__gte=self.since, at__lt=self.until
        )
        return (
            found if self.agent is None else found.filter(run__agent__name=self.agent)
        )

    def list_runs(self) -> QuerySet[Run]:
        """Those that began in it."""
        found = Run.objects.filter(
            project_id=self.project_id,
            created_at__gte=self.since,
            created_at__lt=self.until,
        )
        if self.agent is not None:
            found = found.filter(agent__name=self.agent)
        return exclude_system_runs(found)

    def list_outcomes(self) -> QuerySet[RunOutcome]:
        """Of runs that finished in it."""
        found = RunOutcome.objects.filter(
            project_id=self.project_id, at__gte=self.since, at__lt=self.until
        )
        return (
            found if self.agent is None else found.filter(run__agent__name=self.agent)
        )


def count_violations(period: Period) -> dict[str, Any]:
    """The figures of a period; where there is nothing, zeros."""
    told = Q(source=ViolationSource.AGENT)
    counts = period.list_violations().aggregate(
        every=Count("pk"),
        told=Count("pk", filter=told),
        corrected=Count("pk", filter=told & Q(auto_corrected=True)),
    )
    runs = period.list_runs().count()
    outcomes = period.list_outcomes().aggregate(
        finished=Count("pk"),
        judged=Count("pk", filter=Q(accepted__isnull=False)),
        accepted=Count("pk", filter=Q(accepted=True)),
        rework=Avg("rework_lines"),
    )
    return {
        "runs": runs,
        "violations": counts["every"],
        "violations_per_ten_runs": _divide(counts["every"] * 10, runs),
        "self_corrected": _divide(counts["corrected"], counts["told"]),
        "finished": outcomes["finished"],
        "judged": outcomes["judged"],
        "accepted": outcomes["accepted"],
        "mean_rework_lines": round(float(outcomes["rework"] or 0), 4),
    }


def rank_rules(period: Period, *, limit: int) -> list[dict[str, Any]]:
    """The rules that cost most, first."""
    severities = {
        f"severity_{name}": Count("pk", filter=Q(severity=name)) for name in SEVERITIES
    }
    rows = (
        period.list_violations()
        .values("rule")
        .annotate(
            count=Count("pk"),
            runs=Count("run", distinct=True),
            corrected=Count("pk", filter=Q(auto_corrected=True)),
            rework=Avg(_REWORK),
            score=Sum(_WEIGHT * _CORRECTED * _FACTOR),
            **severities,
        )
        .order_by("-score", "-count", "rule")
    )
    return [_build_rank(row) for row in rows[:limit]]


def _build_rank(row: Mapping[str, Any]) -> dict[str, Any]:
    counts = {name: row[f"severity_{name}"] for name in SEVERITIES}
    return {
        "rule": row["rule"],
        "count": row["count"],
        "runs": row["runs"],
        "severities": {name: count for name, count in counts.items() if count},
        "auto_corrected": row["corrected"],
        "mean_rework_lines": round(float(row["rework"] or 0), 4),
        "score": round(row["score"], 4),
    }


def _divide(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 0.0
