"""Store many runs' new heads and entries on SQLite, by compare-and-set.

The driver lets other threads have the interpreter for every row that it steps to, and may
wait long to get it back. So many rows are written by one statement (bench steps).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import chain
from sqlite3 import Cursor
from typing import Any

from django.db import connection

from ledger.state import (
    COLUMNS,
    STEP_COLUMNS,
    list_column_values,
    list_step_values,
)
from ledger.writer import sql
from ledger.writer.run_writes import (
    ADD_ON_CONFLICT,
    COUNTER_COLUMNS,
    COUNTERS,
    ENTRY_COLUMNS,
    POSITION,
    ZEROS,
    RunWrite,
    count_spent,
    join_names,
    list_count_values,
    list_entry_rows,
)
from ledger.writer.shared_use import LIMITED

Row = Sequence[Any]
# How many rows a statement has: few texts, so that the driver keeps them prepared.
SIZES = (32, 16, 8, 4, 2, 1)

_SQLITE_STORED = (
    "SELECT run.id, run.head_hash, head.halts_version FROM ledger_run run "
    "LEFT JOIN ledger_projecthead head ON head.project_id = run.project_id "
    "WHERE run.id IN (SELECT value FROM json_each(?))"
)
_SQLITE_POSITION = (
    "UPDATE ledger_projecthead SET position = position + ? "
    "WHERE project_id = ? RETURNING position"
)
_LIMITED = LIMITED.format(agent="ledger_run.agent_id", run="ledger_run.id")


def _write_update(columns: Sequence[tuple[str, str]], count: int) -> str:
    """For rows of the run's id, its head, the version of halts, whether it was decided as if
    it shared nothing, and these columns."""
    named = ", ".join(
        f"{name} = given.column{place}" for place, (name, _) in enumerate(columns, 5)
    )
    rows = _write_rows(len(columns) + 4, count)
    return (
        f"UPDATE ledger_run SET {named} FROM (VALUES {rows}) AS given "  # noqa: S608
        "WHERE id = given.column1 AND head_hash = given.column2 "
        "AND (given.column3 IS NULL OR given.column3 = (SELECT halts_version "
        "FROM ledger_projecthead WHERE project_id = ledger_run.project_id)) "
        f"AND NOT (given.column4 AND {_LIMITED})"
    )


@cache
def _write_steps(count: int) -> str:
    return _write_update(STEP_COLUMNS, count)


@cache
def _write_heads(count: int) -> str:
    return _write_update(COLUMNS, count)


@cache
def _write_entries(count: int) -> str:
    columns = (*ENTRY_COLUMNS, POSITION)
    rows = _write_rows(len(columns), count)
    return f"INSERT INTO ledger_entry ({join_names(columns)}) VALUES {rows}"  # noqa: S608


@cache
def _write_counts(count: int) -> str:
    rows = ", ".join([f"(?, ?, ?, ?, ?, ?, {ZEROS})"] * count)
    return (
        f"INSERT INTO {COUNTERS} ({', '.join(COUNTER_COLUMNS)}) "  # noqa: S608
        f"VALUES {rows} {ADD_ON_CONFLICT}"
    )


def _write_rows(columns: int, count: int) -> str:
    return ", ".join([f"({', '.join(['?'] * columns)})"] * count)


def store_runs(writes: Sequence[RunWrite]) -> set[int]:
    """The transaction holds the only write lock: what we compare stays until we set."""
    connection.ensure_connection()
    # The driver itself: Django would translate the placeholders of each row anew (bench
    # steps). Its errors are not Django's by themselves.
    with connection.wrap_database_errors:
        return _store(connection.connection.cursor(), writes)


def _store(cursor: Cursor, writes: Sequence[RunWrite]) -> set[int]:
    won = _store_heads(cursor, writes)
    entries = [entry for write in won for entry in write.entries]
    places = {}
    for project_id, count in Counter(entry.project_id for entry in entries).items():
        cursor.execute(_SQLITE_POSITION, [count, project_id])
        (top,) = cursor.fetchone()
        places[project_id] = iter(range(top - count + 1, top + 1))
    rows = [
        (*row, next(places[entry.project_id]))
        for entry, row in zip(entries, list_entry_rows(entries), strict=True)
    ]
    _execute(cursor, _write_entries, rows)
    counts = count_spent(won).items()
    _execute(cursor, _write_counts, [list_count_values(*count) for count in counts])
    return {write.state.id for write in won}


def _store_heads(cursor: Cursor, writes: Sequence[RunWrite]) -> Sequence[RunWrite]:
    """Those whose head, halts and limits are still what they were decided on."""
    steps, heads = list[Row](), list[Row]()
    for write in writes:
        state = write.state
        known = (
            state.id,
            write.old_hash,
            write.halts_version,
            write.shares_nothing,
        )
        if write.is_plain:
            steps.append((*known, *list_step_values(state)))
        else:
            heads.append((*known, *list_column_values(state)))
    changed = _execute(cursor, _write_steps, steps)
    changed += _execute(cursor, _write_heads, heads)
    if changed == len(writes):
        return writes
    ids = json.dumps([write.state.id for write in writes])
    found = cursor.execute(_SQLITE_STORED, [ids])
    stored = {run_id: (head, halts) for run_id, head, halts in found}
    return [write for write in writes if _is_stored(write, stored)]


def _is_stored(write: RunWrite, stored: dict[int, tuple[str, int]]) -> bool:
    """A head names one state and no other: where it is the new one, ours was set."""
    head, halts = stored.get(write.state.id, (None, None))
    return head == write.state.head_hash and write.halts_version in {None, halts}


def _execute(
    cursor: Cursor, write_statement: Callable[[int], str], rows: Sequence[Row]
) -> int:
    """Write all these rows; returns how many were changed."""
    changed = 0
    for some in _divide(rows):
        given = sql.to_sqlite(chain.from_iterable(some))
        changed += cursor.execute(write_statement(len(some)), given).rowcount
    return changed


def _divide(rows: Sequence[Row]) -> Iterator[Sequence[Row]]:
    start = 0
    for size in SIZES:
        while len(rows) - start >= size:
            yield rows[start : start + size]
            start += size
