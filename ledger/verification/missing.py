"""What is missing in a project as a whole: entries, their runs, the last position."""

from __future__ import annotations

from django.db import connection
from django.db.models import Count, Exists, OuterRef

from accounts.models import Project
from ledger.models import Entry, Run

# All by one statement, so that entries which come meanwhile are seen by all or none.
_MISSING = """
SELECT known.project_id, coalesce(head.position, 0), count(entry.id),
  min(entry.position), max(entry.position)
FROM (
  SELECT project_id FROM ledger_projecthead UNION SELECT project_id FROM ledger_entry
) known
LEFT JOIN ledger_projecthead head ON head.project_id = known.project_id
LEFT JOIN ledger_entry entry ON entry.project_id = known.project_id
{only}
GROUP BY known.project_id, head.position
HAVING count(entry.id) <> coalesce(head.position, 0)
  OR coalesce(min(entry.position), 1) <> 1
  OR coalesce(max(entry.position), 0) <> coalesce(head.position, 0)
ORDER BY known.project_id
"""


def list_missing_positions(project_id: int | None = None) -> list[str]:
    """A sentence for each project (or the one) whose entries are not as many as were
    handed out."""
    with connection.cursor() as cursor:
        if project_id is None:
            cursor.execute(_MISSING.format(only=""))
        else:
            only = "WHERE known.project_id = %s"
            cursor.execute(_MISSING.format(only=only), [project_id])
        rows = cursor.fetchall()
    return [
        f"{_name_project(project_id)}: {head} positions were handed out, "
        f"{count} entries are stored (from {first or 0} to {last or 0})"
        for project_id, head, count, first, last in rows
    ]


def list_missing_runs(project_id: int | None = None) -> list[str]:
    """A sentence for each project (or the one) with entries whose run was deleted."""
    orphans = Entry.objects.filter(~Exists(Run.objects.filter(pk=OuterRef("run_id"))))
    if project_id is not None:
        orphans = orphans.filter(project_id=project_id)
    counts = orphans.values_list("project_id").annotate(Count("pk"))
    return [
        f"{_name_project(project_id)}: the run of {count} entries is gone"
        for project_id, count in counts.order_by("project_id")
    ]


def _name_project(project_id: int) -> str:
    """By its number where the project itself is gone."""
    project = Project.objects.filter(pk=project_id).first()
    return f"project {project_id if project is None else project.slug}"
