"""A filter as a question to the database, of runs or of the figures of those that are over."""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import Any

from django.db.models import F, Q, QuerySet, Value
from django.db.models.functions import Length, Replace

from accounts.models import SYSTEM_AGENTS
from ledger.models import FINAL, Run, RunEnd, RunStatus
from ledger.run_list.figures import FIGURES, add_time
from ledger.run_list.filter import Bound, Operator, RunFilter
from ledger.run_list.labels import filter_by_labels
from ledger.run_list.scope import Scope
from ledger.run_list.searching import filter_by_texts

OPEN = tuple(sorted(set(RunStatus.values) - FINAL))
_LOOKUPS: dict[Operator, str] = {
    ">": "gt",
    ">=": "gte",
    "<": "lt",
    "<=": "lte",
    "=": "exact",
}


def filter_runs(scope: Scope, wanted: RunFilter) -> QuerySet[Run]:
    """Of the scope's runs the ones that the filter wants, which has no bounds."""
    runs = _filter_rows(Run.objects.all(), wanted, run="", scope=scope)
    return _filter_by_run(runs, wanted, run="", scope=scope)


def filter_ends(scope: Scope, wanted: RunFilter) -> QuerySet[RunEnd]:
    """The same of runs that are over: whatever stands in their small rows is read there."""
    ends = _filter_rows(RunEnd.objects.all(), wanted, run="run__", scope=scope)
    for bound in wanted.bounds:
        name = FIGURES[bound.figure].of_end
        ends = ends.filter(**{f"{name}__{_LOOKUPS[bound.operator]}": bound.value})
    return _filter_by_run(ends, wanted, run="run__", scope=scope)


def filter_open_runs(scope: Scope, wanted: RunFilter) -> QuerySet[Run]:
    """The same of runs that are not over."""
    runs = add_time(Run.objects.filter(status__in=OPEN))
    runs = _filter_rows(runs, wanted, run="", scope=scope)
    for bound in wanted.bounds:
        runs = _filter_open_by_bound(runs, bound)
    return _filter_by_run(runs, wanted, run="", scope=scope)


def _filter_rows(
    rows: QuerySet[Any], wanted: RunFilter, *, run: str, scope: Scope
) -> QuerySet[Any]:
    """Those of the scope, by columns that runs and their ends both have."""
    rows = scope.filter_rows(rows)
    if wanted.statuses:
        rows = rows.filter(status__in=wanted.statuses)
    if set(wanted.agents) & set(SYSTEM_AGENTS):
        rows = scope.hide_administration(rows)
    else:
        rows = rows.exclude(intent__in=SYSTEM_AGENTS)
    if wanted.agents:
        rows = rows.filter(agent__name__in=wanted.agents)
    if wanted.models:
        rows = rows.filter(model__in=wanted.models)
    if wanted.intents:
        rows = rows.filter(intent__in=wanted.intents)
    if wanted.policies:
        rows = rows.filter(
            reduce(or_, (_match_policy(*each) for each in wanted.policies))
        )
    if wanted.since is not None:
        rows = rows.filter(created_at__gte=wanted.since)
    if wanted.until is not None:
        rows = rows.filter(created_at__lt=wanted.until)
    if wanted.accepted:
        rows = rows.filter(
            reduce(or_, (_match_accepted(each, run=run) for each in wanted.accepted))
        )
    return rows


def _match_policy(name: str, version: int | None) -> Q:
    found = Q(policy__name=name)
    return found if version is None else found & Q(policy__version=version)


def _match_accepted(accepted: bool | None, *, run: str) -> Q:
    # What leads to a run starts at its end, which has it itself.
    column = "accepted" if run else "outcome__accepted"
    if accepted is None:
        return Q(**{f"{column}__isnull": True})
    return Q(**{column: accepted})


def _filter_by_run(
    rows: QuerySet[Any], wanted: RunFilter, *, run: str, scope: Scope
) -> QuerySet[Any]:
    """By what only the run's own row tells."""
    if wanted.codes:
        rows = rows.filter(**{f"{run}code__in": wanted.codes})
    for group in wanted.labels:
        rows = filter_by_labels(rows, group, run=run)
    if wanted.parents:
        rows = rows.filter(**{f"{run}parent__code__in": wanted.parents})
        rows = rows.exclude(**{f"{run}lineage": ""})
    if wanted.depths:
        rows = _filter_by_depth(rows, wanted.depths, run=run)
    return filter_by_texts(rows, wanted.texts, run=run, scope=scope)


def _filter_by_depth(
    rows: QuerySet[Any], depths: tuple[int, ...], *, run: str
) -> QuerySet[Any]:
    lineage = F(f"{run}lineage")
    without = Length(Replace(lineage, Value("/"), Value("")))
    rows = rows.alias(depth=Length(lineage) - without)
    return rows.filter(depth__in=depths)


def _filter_open_by_bound(runs: QuerySet[Run], bound: Bound) -> QuerySet[Run]:
    name = FIGURES[bound.figure].of_run
    return runs.filter(**{f"{name}__{_LOOKUPS[bound.operator]}": bound.value})
