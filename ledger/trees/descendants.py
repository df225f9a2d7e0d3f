"""All runs below one, however deep."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from django.db.models import QuerySet

from ledger.models import Run
from ledger.trees.relatives import OPEN


def list_open_below(run: Run) -> list[UUID]:
    """Every run comes before those that it started."""
    return list(_filter_open_below(run).order_by("pk").values_list("code", flat=True))


def count_open_below(run: Run) -> int:
    return _filter_open_below(run).count()


def is_any_below(run: Run, ids: Collection[int]) -> bool:
    """Whether one of these runs is below it."""
    return _filter_below(run).filter(pk__in=ids).exists()


def list_first_below(run: Run, *, limit: int) -> list[Run]:
    """Level by level, as far as the limit: each by its index of parents."""
    found: list[Run] = []
    level = [run.pk]
    while level and len(found) < limit:
        runs = Run.objects.filter(parent__in=level).exclude(lineage="").order_by("pk")
        runs = runs.select_related("agent").defer("memory")
        new = list(runs[: limit - len(found)])
        found += new
        level = [each.pk for each in new]
    return found


def _filter_open_below(run: Run) -> QuerySet[Run]:
    """Few runs of a project are open at a time, and these have an index."""
    return _filter_below(run).filter(project_id=run.project_id, status__in=OPEN)


def _filter_below(run: Run) -> QuerySet[Run]:
    return Run.objects.filter(lineage__startswith=f"{run.lineage}{run.pk}/")
