"""What a run's answer says of the runs above and below it, read for a whole page at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Count, Q, QuerySet

from guidance.core.runs.shared_limits import NOTHING, PARTS, RUN
from guidance.core.runs.usage import Usage
from ledger.models import Run, SharedUse

# A stopped run is not open: it goes on only if a manager reopens it.
OPEN = ("running", "paused")


@dataclass(frozen=True, slots=True, kw_only=True)
class Relatives:
    """`running` and `total` count direct children, `below` is what all runs below have
    used. A run that merely follows another has no parent here."""

    parent: UUID | None = None
    running: int = 0
    total: int = 0
    below: Usage = NOTHING


def filter_children(runs: QuerySet[Run], *, parent: Run | UUID) -> QuerySet[Run]:
    """Runs that this one started itself."""
    by = {"parent__code": parent} if isinstance(parent, UUID) else {"parent": parent}
    return runs.filter(**by).exclude(lineage="")


def read_relatives(runs: Sequence[Run]) -> dict[int, Relatives]:
    """By the ids of the runs: three queries for any number of them."""
    ids = [run.pk for run in runs]
    above = {run.parent_id for run in runs if run.lineage and run.parent_id}
    parents = dict(Run.objects.filter(pk__in=above).values_list("pk", "code"))
    children = _count_children(ids)
    below = read_below(ids)
    found = {}
    for run in runs:
        total, running = children.get(run.pk, (0, 0))
        found[run.pk] = Relatives(
            parent=parents[run.parent_id] if run.lineage and run.parent_id else None,
            running=running,
            total=total,
            below=below.get(run.pk, NOTHING),
        )
    return found


def read_below(ids: Sequence[int]) -> dict[int, Usage]:
    """What all runs below each of these have used; nothing where none did."""
    rows = SharedUse.objects.filter(scope=RUN, owner__in=ids, period="")
    return {
        row.owner: Usage(**{part: getattr(row, part) for part in PARTS}) for row in rows
    }


def _count_children(ids: Sequence[int]) -> dict[int, tuple[int, int]]:
    rows = (
        Run.objects.filter(parent__in=ids)
        .exclude(lineage="")
        .order_by()
        .values_list("parent_id")
        .annotate(total=Count("pk"), running=Count("pk", filter=Q(status__in=OPEN)))
    )
    return {parent: (total, running) for parent, total, running in rows}
