"""Reads on the figures: sums, series, spending and counts of a period."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, Literal, NamedTuple

from django.db.models import F, QuerySet, Sum
from django.db.models.functions import Coalesce

from ledger.models import PeriodCount, PeriodTotals, ProjectHead, Run, StatisticsCursor
from ledger.run_list.labels import filter_by_labels
from ledger.selectors import exclude_system_runs
from ledger.statistics.periods import Scope, SeriesInterval, list_points, round_to
from ledger.statistics.totals import Totals

_SUMS = {each.name: Coalesce(Sum(each.name), 0) for each in fields(Totals)}
Grouping = Literal["agent", "model", "intent", "policy"]
_GROUPS = {"agent": "agent__name"}


class CountedUntil(NamedTuple):
    """How far the figures go: the newest entry that is counted, and how many wait."""

    at: datetime | None
    waiting: int


class Point(NamedTuple):
    """One hour, day or week of a series."""

    at: datetime
    totals: Totals


class CountPoint(NamedTuple):
    at: datetime
    counts: dict[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spend:
    """What runs of one agent, model, label, day or one run alone used up."""

    key: str
    runs: int
    steps: int
    tokens: int
    tool_calls: int
    cost_micros: int
    # Of `by="run"` alone: what it is about, and whose it is.
    task: str = ""
    agent: str = ""


def get_counted_until(*, project_id: int) -> CountedUntil:
    cursor = StatisticsCursor.objects.filter(pk=project_id).first()
    heads = ProjectHead.objects.filter(pk=project_id)
    head = heads.values_list("position", flat=True).first() or 0
    if cursor is None:
        return CountedUntil(at=None, waiting=head)
    return CountedUntil(at=cursor.at, waiting=max(0, head - cursor.position))


def read_totals(*, scope: Scope) -> Totals:
    rows = PeriodTotals.objects.filter(scope.build_filter())
    return Totals(**rows.aggregate(**_SUMS))


def read_totals_by(*, scope: Scope, by: Grouping) -> dict[str, Totals]:
    """The sums of each agent, model, intent or policy version."""
    rows = PeriodTotals.objects.filter(scope.build_filter())
    return _group(rows, _GROUPS.get(by, by))


def read_totals_by_label(*, scope: Scope, name: str) -> dict[str, Totals]:
    """The sums of each value that runs give a label of this name."""
    rows = PeriodTotals.objects.filter(scope.build_filter(label_name=name))
    return _group(rows, "label_value")


def _group(rows: QuerySet[PeriodTotals], column: str) -> dict[str, Totals]:
    found = rows.order_by().values(column).annotate(**_SUMS)
    return {row[column]: Totals(**{name: row[name] for name in _SUMS}) for row in found}


def read_series(*, scope: Scope, interval: SeriesInterval) -> list[Point]:
    """Each hour, day or week of the period, those without work as well. Of the first and
    the last only what lies in the period is counted."""
    rows = PeriodTotals.objects.filter(scope.build_filter(by_hour=interval == "hour"))
    sums: dict[datetime, dict[str, int]] = defaultdict(lambda: dict.fromkeys(_SUMS, 0))
    found = rows.order_by().values_list("at").annotate(**_SUMS)
    for at, *numbers in found:
        point = sums[round_to(at, interval)]
        for name, number in zip(_SUMS, numbers, strict=True):
            point[name] += number
    points = list_points(scope.begin, scope.end, interval)
    return [Point(at=at, totals=Totals(**sums[at])) for at in points]


def read_counts(*, scope: Scope, kind: str) -> dict[str, int]:
    """How often each key of a kind was counted, most often first."""
    rows = PeriodCount.objects.filter(scope.build_filter(), kind=kind)
    found = rows.order_by().values_list("key").annotate(sum=Sum("count"))
    return dict(sorted(found, key=lambda row: (-row[1], row[0])))


def read_count_series(
    *, scope: Scope, kind: str, interval: SeriesInterval
) -> list[CountPoint]:
    rows = PeriodCount.objects.filter(
        scope.build_filter(by_hour=interval == "hour"), kind=kind
    )
    sums: dict[datetime, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    found = rows.order_by().values_list("at", "key").annotate(sum=Sum("count"))
    for at, key, number in found:
        sums[round_to(at, interval)][key] += number
    points = list_points(scope.begin, scope.end, interval)
    return [CountPoint(at=at, counts=dict(sums[at])) for at in points]


def read_spend(*, scope: Scope, by: str, limit: int | None = None) -> list[Spend]:
    """`by` is agent, model, intent, policy, day, run, or `label:<name>`. The most
    expensive first, days in their order."""
    if by == "run":
        return _read_spend_of_runs(scope, limit=limit)
    if by == "day":
        points = read_series(scope=scope, interval="day")
        return [_build_spend(f"{at:%Y-%m-%d}", totals) for at, totals in points]
    if by.startswith("label:"):
        groups = read_totals_by_label(scope=scope, name=by.removeprefix("label:"))
    else:
        groups = read_totals_by(scope=scope, by=by)  # type: ignore[arg-type]
    found = [_build_spend(key, totals) for key, totals in groups.items()]
    found.sort(key=lambda each: (-each.cost_micros, -each.tokens, each.key))
    return found[:limit]


def _build_spend(key: str, totals: Totals) -> Spend:
    return Spend(
        key=key,
        runs=totals.runs_started,
        steps=totals.steps,
        tokens=totals.tokens,
        tool_calls=totals.tool_calls,
        cost_micros=totals.cost_micros,
    )


def _read_spend_of_runs(scope: Scope, *, limit: int | None) -> list[Spend]:
    """Runs that began in the period, with all that they used, then and later."""
    chosen: dict[str, Any] = {
        "agent__name": scope.agent,
        "model": scope.model,
        "intent": scope.intent,
    }
    runs = Run.objects.filter(
        project_id=scope.project_id,
        created_at__gte=scope.begin,
        created_at__lt=scope.end,
        **{name: value for name, value in chosen.items() if value is not None},
    )
    if scope.policy is not None:
        policy, _at, version = scope.policy.rpartition("@")
        runs = runs.filter(policy__name=policy, policy__version=version)
    if scope.label is not None:
        runs = filter_by_labels(runs, (scope.label,), run="")
    rows = (
        exclude_system_runs(runs)
        .order_by("-cost_micros_used", "-tokens_used", "-pk")
        .values(
            "code",
            "task",
            "steps",
            "tokens_used",
            "tool_calls_used",
            "cost_micros_used",
            agent_name=F("agent__name"),
        )
    )
    return [
        Spend(
            key=str(row["code"]),
            runs=1,
            steps=row["steps"],
            tokens=row["tokens_used"],
            tool_calls=row["tool_calls_used"],
            cost_micros=row["cost_micros_used"],
            task=row["task"],
            agent=row["agent_name"],
        )
        for row in rows[:limit]
    ]
