"""The figures of a period and of the one before, read once for all parts of the page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta

from django.db.models import Q, Sum

from console.overview.period import Period
from ledger.models import PeriodCount, PeriodTotals
from ledger.statistics.periods import Scope, round_to_hour
from ledger.statistics.selectors import read_series, read_totals, read_totals_by
from ledger.statistics.totals import Totals


@dataclass(frozen=True, slots=True)
class Count:
    """How often something happened in the period, and in the one before."""

    key: str
    now: int
    before: int

    @property
    def change(self) -> int:
        return self.now - self.before


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """`buckets` has one for each hour or day of the period."""

    period: Period
    whole: Totals
    before: Totals
    buckets: Sequence[Totals]
    agents: dict[str, Totals]

    def list_values(self, pick: Callable[[Totals], int]) -> list[float | None]:
        return [pick(each) for each in self.buckets]


def read_figures(*, project_id: int, period: Period) -> Figures:
    scope = _build_scope(project_id, period)
    series = read_series(scope=scope, interval="hour" if period.is_hourly else "day")
    agents = read_totals_by(scope=scope, by="agent")
    whole, last, passed = _split_before(project_id, period)
    return Figures(
        period=period,
        whole=_add_totals([(each, 1) for each in agents.values()]),
        before=_add_totals(
            [(read_totals(scope=whole), 1), (read_totals(scope=last), passed)]
        ),
        buckets=[point.totals for point in series],
        agents=agents,
    )


def read_counts(
    *, project_id: int, period: Period, kinds: Sequence[str]
) -> dict[str, list[Count]]:
    """By kind, the most frequent first: of all of them by one query."""
    scope = _build_scope(project_id, period)
    whole, last, passed = _split_before(project_id, period)
    chosen = scope.build_filter() | whole.build_filter() | last.build_filter()
    # Of the chosen rows the moment alone says to which of the three they belong.
    now, before = Q(at__gte=scope.begin), Q(at__lt=last.begin)
    rows = (
        PeriodCount.objects.filter(chosen, kind__in=kinds)
        .order_by()
        .values_list("kind", "key")
        .annotate(
            now=Sum("count", filter=now),
            before=Sum("count", filter=before),
            partly=Sum("count", filter=~now & ~before),
        )
    )
    found: dict[str, list[Count]] = {kind: [] for kind in kinds}
    for kind, key, of_now, of_before, of_last in rows:
        earlier = (of_before or 0) + round((of_last or 0) * passed)
        found[kind].append(Count(key, of_now or 0, earlier))
    for counts in found.values():
        counts.sort(key=lambda each: (-each.now, each.key))
    return found


def read_count_series(*, project_id: int, period: Period, kind: str) -> list[int]:
    """How often things of a kind happened in each hour or day."""
    scope = _build_scope(project_id, period)
    rows = (
        PeriodCount.objects.filter(
            scope.build_filter(by_hour=period.is_hourly), kind=kind
        )
        .order_by()
        .values_list("at")
        .annotate(Sum("count"))
    )
    return _sum_buckets(period, list(rows))


def read_agent_spend(
    *, project_id: int, period: Period, agents: Sequence[str]
) -> dict[str, list[int]]:
    """What each of them spent in each hour or day, in micro-dollars."""
    scope = _build_scope(project_id, period)
    rows = (
        PeriodTotals.objects.filter(
            scope.build_filter(by_hour=period.is_hourly), agent__name__in=agents
        )
        .order_by()
        .values_list("agent__name", "at")
        .annotate(Sum("cost_micros"))
    )
    found: dict[str, list[tuple[datetime, int]]] = {agent: [] for agent in agents}
    for agent, at, cost in rows:
        found[agent].append((at, cost))
    return {agent: _sum_buckets(period, pairs) for agent, pairs in found.items()}


def sum_now(counts: Sequence[Count]) -> int:
    return sum(each.now for each in counts)


def sum_before(counts: Sequence[Count]) -> int:
    return sum(each.before for each in counts)


def _build_scope(project_id: int, period: Period) -> Scope:
    return Scope(project_id=project_id, since=period.since, until=period.until)


def _split_before(project_id: int, period: Period) -> tuple[Scope, Scope, float]:
    """The whole hours of the period before, its last one, and how much of that counts: as
    much as has passed of the hour that it is now. Figures are those of whole hours."""
    before = period.before
    hour = round_to_hour(before.until)
    return (
        Scope(project_id=project_id, since=before.since, until=hour),
        Scope(project_id=project_id, since=hour, until=before.until),
        (before.until - hour) / timedelta(hours=1),
    )


def _add_totals(parts: Sequence[tuple[Totals, float]]) -> Totals:
    """The sum, of each part as large a share as stands beside it."""
    return Totals(
        **{
            column.name: sum(
                round(getattr(totals, column.name) * share) for totals, share in parts
            )
            for column in fields(Totals)
        }
    )


def _sum_buckets(period: Period, pairs: Sequence[tuple[datetime, int]]) -> list[int]:
    sums = [0] * period.count
    for at, amount in pairs:
        place = period.find_bucket(at)
        if place is not None:
            sums[place] += amount
    return sums
