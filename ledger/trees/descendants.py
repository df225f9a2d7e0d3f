"""All runs below one, however deep."""

from __future__ import annotations

from uuid import UUID

from django.db.models import QuerySet

from ledger.models import Run
from ledger.trees.relatives import OPEN


def filter_below(run: Run) -> QuerySet[Run]:
    start = f"{run.lineage}{run.pk}/"
    return Run.objects.filter(project_id=run.project_id, lineage__startswith=start)


def list_open_below(run: Run) -> list[UUID]:
    """Every run comes before those that it started."""
    runs = filter_below(run).filter(status__in=OPEN).order_by("pk")
    return list(runs.values_list("code", flat=True))
