"""What all runs of a list come to, however many pages it has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db import connection
from django.db.models import Count, F, Field, Q, QuerySet, Sum, Value

from common.percentiles import NearestRanks
from ledger.models import Run, RunEnd
from ledger.run_list.filter import RunFilter
from ledger.run_list.matching import filter_ends, filter_open_runs
from ledger.run_list.scope import Scope

_NO_MEDIAN = Value(None, output_field=Field())


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """Each run counts for itself alone: what runs below have used is theirs.

    `median_ms` is of the runs that have ended, None where none has. `judged` are those that
    were accepted or not.
    """

    runs: int
    steps: int
    tokens: int
    cost_micros: int
    ended: int
    median_ms: int | None
    accepted: int
    judged: int


def count_totals(*, scope: Scope, wanted: RunFilter) -> Totals:
    ends = filter_ends(scope, wanted)
    over, still = _sum_parts(ends, filter_open_runs(scope, wanted))
    runs, steps, tokens, cost = (
        one + other for one, other in zip(over[:4], still[:4], strict=True)
    )
    return Totals(
        runs=runs,
        steps=steps,
        tokens=tokens,
        cost_micros=cost,
        ended=over[0],
        median_ms=_read_median(ends, count=over[0], ranked=over[6]),
        accepted=over[4],
        judged=over[5],
    )


def _sum_parts(ends: QuerySet[RunEnd], runs: QuerySet[Run]) -> list[list[Any]]:
    """Runs, steps, tokens, cost, accepted and judged ones of those that are over and of the
    others; of those that are over also the median of the time, where the database has one.

    In one statement: a run that ends meanwhile is in exactly one of them, and what the
    filter asks for is looked for once.
    """
    over = ends.values(part=Value(0)).annotate(
        count=Count("run"),
        all_steps=Sum("steps", default=0),
        all_tokens=Sum("tokens", default=0),
        all_cost=Sum("cost_micros", default=0),
        all_accepted=Count("run", filter=Q(accepted=True)),
        all_judged=Count("run", filter=Q(accepted__isnull=False)),
        median=_build_median(),
    )
    still = runs.values(part=Value(1)).annotate(
        count=Count("pk"),
        all_steps=Sum("steps", default=0),
        all_tokens=Sum("tokens_used", default=0),
        all_cost=Sum("cost_micros_used", default=0),
        all_accepted=Value(0),
        all_judged=Value(0),
        median=_NO_MEDIAN,
    )
    names = (
        "count",
        "all_steps",
        "all_tokens",
        "all_cost",
        "all_accepted",
        "all_judged",
    )
    # A part that Django knows to be empty is not asked for.
    sums: list[list[Any]] = [[0] * 6 + [None], [0] * 6 + [None]]
    both = over.union(still, all=True).values_list("part", *names, "median")
    for part, *figures in both:
        sums[part] = figures
    return sums


def _build_median() -> Any:
    if connection.vendor == "postgresql":
        return NearestRanks(F("time_ms"), [50])
    return _NO_MEDIAN


def _read_median(
    ends: QuerySet[RunEnd], *, count: int, ranked: list[int] | None
) -> int | None:
    """A time that a run really took, the nearest rank."""
    if ranked or not count:
        return ranked[0] if ranked else None
    times = ends.order_by("time_ms").values_list("time_ms", flat=True)
    return times[(count - 1) // 2]
