"""The list of exports, which a project keeps for so many days and no longer.

Nothing that a chain holds or that is compared with one is deleted, whatever its age: runs,
entries, reviews, rulings, policies, the administration.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from accounts.models import Project
from ledger.models import LedgerExport

AT_ONCE = 1_000


def delete_old_exports(at: datetime) -> int:
    """Of every project that has set for how long it lists them; returns how many."""
    projects = Project.objects.exclude(retention_days=None)
    return sum(
        _delete_before(pk, at - timedelta(days=days))
        for pk, days in projects.values_list("pk", "retention_days")
        if days is not None
    )


def _delete_before(project_id: int, before: datetime) -> int:
    """The oldest first, so many at once that nobody waits for long."""
    rows = LedgerExport.objects.filter(project_id=project_id)
    deleted = 0
    while True:
        oldest = rows.order_by("pk").values_list("pk", "at")[:AT_ONCE]
        chosen = [pk for pk, at in oldest if at < before]
        rows.filter(pk__in=chosen).delete()
        deleted += len(chosen)
        if len(chosen) < AT_ONCE:
            return deleted
