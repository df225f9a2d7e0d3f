"""Positions in a project's ledger have no gap: where there is one, entries are gone."""

from __future__ import annotations

from django.db import connection

# Both by one statement, so that entries which come meanwhile are seen by both or none.
_MISSING = """
SELECT project.slug, head.position, count(entry.id), min(entry.position),
  max(entry.position)
FROM ledger_projecthead head
JOIN accounts_project project ON project.id = head.project_id
LEFT JOIN ledger_entry entry ON entry.project_id = head.project_id
GROUP BY project.slug, head.position
HAVING count(entry.id) <> head.position
  OR coalesce(min(entry.position), 1) <> 1
  OR coalesce(max(entry.position), 0) <> head.position
ORDER BY project.slug
"""


def list_missing_positions() -> list[str]:
    """A sentence for each project whose entries are not as many as were handed out."""
    with connection.cursor() as cursor:
        cursor.execute(_MISSING)
        rows = cursor.fetchall()
    return [
        f"project {slug}: {head} positions were handed out, {count} entries are stored "
        f"(from {first or 0} to {last or 0})"
        for slug, head, count, first, last in rows
    ]
