"""The SQL of the writer: store many runs' new heads and entries by compare-and-set.

PostgreSQL does it in one statement. The project's head row is locked first and in
order, so that positions are handed out in commit order and two processes never
deadlock; a run whose head is no longer the one we built on is left out, together with
its entries, and is missing from the answer.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from django.db import connection

from ledger.chain import SealedEntry
from ledger.state import COLUMNS, RunState, list_column_values
from ledger.writer import sql

CHANNEL = "checkrail"

ENTRY_COLUMNS: tuple[tuple[str, str], ...] = (
    ("run_id", "bigint"),
    ("project_id", "bigint"),
    ("version", "smallint"),
    ("seq", "bigint"),
    ("at", "timestamptz"),
    ("type", "text"),
    ("actor", "text"),
    ("payload", "text"),
    ("payload_sha256", "text"),
    ("prev_hash", "text"),
    ("hash", "text"),
    ("step_number", "bigint"),
    ("decision", "text"),
)
POSITION = ("position", "bigint")


@dataclass(slots=True, kw_only=True)
class RunWrite:
    """All that one batch does to one run; `wakes` tells other processes at commit."""

    old_hash: str
    state: RunState
    entries: list[SealedEntry] = field(default_factory=list)
    wakes: bool = False


def store(writes: Sequence[RunWrite]) -> set[int]:
    """Write what can be written; the ids of the runs that were won."""
    if connection.vendor == "postgresql":
        return _store_postgresql(writes)
    # The driver itself, whose errors are not Django's: it would translate the
    # placeholders of each row anew.
    connection.ensure_connection()
    with connection.wrap_database_errors:
        return _store_sqlite(writes)


def get_session_pid() -> int | None:
    """By this number others know whose notification it is; None where there are none."""
    if connection.vendor != "postgresql":
        return None
    connection.ensure_connection()
    return cast("int", connection.connection.info.backend_pid)


def join_names(columns: Sequence[tuple[str, str]]) -> str:
    return ", ".join(name for name, _ in columns)


def _join_array_types(columns: Sequence[tuple[str, str]]) -> str:
    return ", ".join(f"%s::{kind}[]" for _, kind in columns)


_PG_STORE = f"""
WITH v AS (
  SELECT * FROM unnest(
    %s::bigint[], %s::bigint[], %s::text[], %s::boolean[], {_join_array_types(COLUMNS)}
  ) AS v(run_id, project_id, old_hash, wakes, {join_names(COLUMNS)})
), locked AS MATERIALIZED (
  SELECT project_id, position FROM ledger_projecthead
  WHERE project_id IN (SELECT project_id FROM v) ORDER BY project_id FOR UPDATE
), won AS (
  UPDATE ledger_run r SET {", ".join(f"{name} = v.{name}" for name, _ in COLUMNS)}
  FROM v JOIN locked USING (project_id)
  WHERE r.id = v.run_id AND r.head_hash = v.old_hash
  RETURNING r.id AS run_id, v.wakes
), e AS (
  SELECT * FROM unnest({_join_array_types(ENTRY_COLUMNS)}) WITH ORDINALITY
    AS e({join_names(ENTRY_COLUMNS)}, ord)
), placed AS (
  SELECT e.*, locked.position
    + row_number() OVER (PARTITION BY e.project_id ORDER BY e.ord) AS position
  FROM e JOIN won USING (run_id) JOIN locked USING (project_id)
), bumped AS (
  UPDATE ledger_projecthead h SET position = top.position
  FROM (SELECT project_id, max(position) AS position FROM placed GROUP BY project_id)
    AS top
  WHERE h.project_id = top.project_id
), stored AS (
  INSERT INTO ledger_entry ({join_names((*ENTRY_COLUMNS, POSITION))})
  SELECT {join_names(ENTRY_COLUMNS)}, position FROM placed
)
SELECT run_id, CASE WHEN wakes THEN pg_notify('{CHANNEL}', run_id::text) END FROM won
"""  # noqa: S608 (column names are constants of this module)


def list_entry_values(entry: SealedEntry) -> tuple[Any, ...]:
    return (
        entry.run_id,
        entry.project_id,
        entry.version,
        entry.seq,
        entry.at,
        entry.type,
        entry.actor,
        entry.payload,
        entry.payload_sha256,
        entry.prev_hash,
        entry.hash,
        entry.step_number,
        entry.decision,
    )


def _store_postgresql(writes: Sequence[RunWrite]) -> set[int]:
    return {row[0] for row in sql.execute(_PG_STORE, _build_parameters(writes))}


def _build_parameters(writes: Sequence[RunWrite]) -> list[str]:
    heads = [
        (
            w.state.id,
            w.state.project_id,
            w.old_hash,
            w.wakes,
            *list_column_values(w.state),
        )
        for w in writes
    ]
    rows = [list_entry_values(entry) for write in writes for entry in write.entries]
    parameters = [_format_array(column) for column in zip(*heads, strict=True)]
    return parameters + [_format_array(column) for column in zip(*rows, strict=True)]


def _format_array(values: Iterable[Any]) -> str:
    """PostgreSQL's array literal.

    psycopg writes the same, but escapes each text by a regular expression, which costs
    more than judging the step, and names another type as soon as a number grows, which
    makes another statement to prepare.
    """
    items = (
        "NULL"
        if value is None
        else '"' + str(value).replace("\\", "\\\\").replace('"', '\\"') + '"'
        for value in values
    )
    return "{" + ",".join(items) + "}"


_SQLITE_STORED = (
    "SELECT id, head_hash FROM ledger_run WHERE id IN (SELECT value FROM json_each(?))"
)
_SQLITE_HEAD = (
    f"UPDATE ledger_run SET {', '.join(f'{name} = ?' for name, _ in COLUMNS)} "  # noqa: S608
    "WHERE id = ?"
)
_SQLITE_POSITION = (
    "UPDATE ledger_projecthead SET position = position + ? "
    "WHERE project_id = ? RETURNING position"
)
_SQLITE_ENTRY = (
    f"INSERT INTO ledger_entry ({join_names((*ENTRY_COLUMNS, POSITION))}) "  # noqa: S608
    f"VALUES ({', '.join(['?'] * (len(ENTRY_COLUMNS) + 1))})"
)


def _store_sqlite(writes: Sequence[RunWrite]) -> set[int]:
    """The transaction holds the only write lock: what we compare stays until we set."""
    cursor = connection.connection.cursor()
    ids = json.dumps([write.state.id for write in writes])
    stored = dict(cursor.execute(_SQLITE_STORED, [ids]))
    won = [write for write in writes if stored.get(write.state.id) == write.old_hash]
    cursor.executemany(
        _SQLITE_HEAD,
        [
            (*sql.to_sqlite(list_column_values(write.state)), write.state.id)
            for write in won
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
    return {write.state.id for write in won}
