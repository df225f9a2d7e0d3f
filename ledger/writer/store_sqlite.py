"""Store many runs' new heads and entries on SQLite, by compare-and-set."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from sqlite3 import Cursor

from django.db import connection

from ledger.state import (
    COLUMNS,
    STEP_COLUMNS,
    list_column_values,
    list_step_values,
)
from ledger.writer import sql
from ledger.writer.run_writes import (
    COUNT,
    ENTRY_COLUMNS,
    POSITION,
    RunWrite,
    count_spent,
    join_names,
    list_count_values,
    list_entry_values,
)

_SQLITE_STORED = (
    "SELECT run.id, run.head_hash, head.halts_version FROM ledger_run run "
    "LEFT JOIN ledger_projecthead head ON head.project_id = run.project_id "
    "WHERE run.id IN (SELECT value FROM json_each(?))"
)


def _write_update(columns: Sequence[tuple[str, str]]) -> str:
    named = ", ".join(f"{name} = ?" for name, _ in columns)
    return f"UPDATE ledger_run SET {named} WHERE id = ?"  # noqa: S608


_SQLITE_STEP = _write_update(STEP_COLUMNS)
_SQLITE_HEAD = _write_update(COLUMNS)
_SQLITE_POSITION = (
    "UPDATE ledger_projecthead SET position = position + ? "
    "WHERE project_id = ? RETURNING position"
)
_SQLITE_ENTRY = (
    f"INSERT INTO ledger_entry ({join_names((*ENTRY_COLUMNS, POSITION))}) "  # noqa: S608
    f"VALUES ({', '.join(['?'] * (len(ENTRY_COLUMNS) + 1))})"
)
_SQLITE_COUNT = COUNT.replace("%s", "?")


def store_runs(writes: Sequence[RunWrite]) -> set[int]:
    """The transaction holds the only write lock: what we compare stays until we set."""
    connection.ensure_connection()
    # The driver itself: Django would translate the placeholders of each row anew (bench
    # steps). Its errors are not Django's by themselves.
    with connection.wrap_database_errors:
        return _store(connection.connection.cursor(), writes)


def _store(cursor: Cursor, writes: Sequence[RunWrite]) -> set[int]:
    ids = json.dumps([write.state.id for write in writes])
    found = cursor.execute(_SQLITE_STORED, [ids])
    stored = {run_id: (head, halts) for run_id, head, halts in found}
    won = [write for write in writes if _is_unmoved(write, stored)]
    for text, list_values, changed in (
        (_SQLITE_STEP, list_step_values, [each for each in won if each.is_plain]),
        (_SQLITE_HEAD, list_column_values, [each for each in won if not each.is_plain]),
    ):
        cursor.executemany(
            text,
            [
                (*sql.to_sqlite(list_values(write.state)), write.state.id)
                for write in changed
            ],
        )
    entries = [entry for write in won for entry in write.entries]
    places = {}
    for project_id, count in Counter(entry.project_id for entry in entries).items():
        cursor.execute(_SQLITE_POSITION, [count, project_id])
        (top,) = cursor.fetchone()
        places[project_id] = iter(range(top - count + 1, top + 1))
    cursor.executemany(
        _SQLITE_ENTRY,
        [
            (*sql.to_sqlite(list_entry_values(entry)), next(places[entry.project_id]))
            for entry in entries
        ],
    )
    cursor.executemany(
        _SQLITE_COUNT,
        [list_count_values(key, spent) for key, spent in count_spent(won).items()],
    )
    return {write.state.id for write in won}


def _is_unmoved(write: RunWrite, stored: dict[int, tuple[str, int]]) -> bool:
    """Whether head and halts are still those that it was decided on."""
    head, halts = stored.get(write.state.id, (None, None))
    return head == write.old_hash and write.halts_version in {None, halts}
