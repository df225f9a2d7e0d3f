"""Runs that a halt holds, asked of the database."""

from __future__ import annotations

from datetime import datetime
from typing import TypeVar

from django.db.models import Model, Q, QuerySet
from django.db.models.fields.json import KeyTextTransform
from django.db.models.lookups import Exact

from ledger.models import Halt, Run

M = TypeVar("M", bound=Model)
OPEN = ("running", "paused")


def filter_held(halt: Halt) -> QuerySet[Run]:
    """All runs of its scope, also those that are over."""
    return Run.objects.filter(_build_scope(halt), project_id=halt.project_id)


def build_held_filter(*, project_id: int) -> Q:
    """Runs of the project that a halt holds now."""
    found = Q(pk=None)
    for halt in Halt.objects.filter(project_id=project_id, released_at=None):
        found |= _build_scope(halt)
    return found


def _build_scope(halt: Halt) -> Q:
    if halt.agent_id is not None:
        return Q(agent_id=halt.agent_id)
    if halt.label:
        return _build_label_filter(halt.label)
    if halt.run_id is not None:
        below = Q(lineage__startswith=f"{halt.run_id}/") | Q(
            lineage__contains=f"/{halt.run_id}/"
        )
        own = Q(pk=halt.run_id)
        return own | below if halt.children else own
    return Q(pk__isnull=False)


def filter_open(halt: Halt) -> QuerySet[Run]:
    """Those that would go on."""
    return filter_held(halt).filter(status__in=OPEN)


def exclude_held(rows: QuerySet[M], *, run: str) -> QuerySet[M]:
    """Without what belongs to a run that is halted now: its deadlines stand still. `run`
    leads from a row to the id of its run."""
    for halt in Halt.objects.filter(released_at=None):
        rows = rows.exclude(**{f"{run}__in": filter_held(halt).values("pk")})
    return rows


def get_judged_time(run: Run, at: datetime) -> datetime:
    """The moment that deadlines of this run are compared with: that of the oldest halt that
    holds it, else `at`."""
    standing = Halt.objects.filter(project_id=run.project_id, released_at=None)
    for halt in standing.order_by("pk"):
        if filter_held(halt).filter(pk=run.pk).exists():
            return min(halt.at, at)
    return at


def _build_label_filter(label: str) -> Q:
    """Names and values may have colons themselves: each of them may be the border."""
    found = Q()
    for place, character in enumerate(label):
        if character == ":":
            value = KeyTextTransform(label[:place], "labels")
            found |= Q(Exact(value, label[place + 1 :]))
    return found
