"""Lock a project for one change request: nobody else writes to it until the commit.

What people and agents compete for is decided so. PostgreSQL needs two statements for it:
one that locks and reads, one that stores (bench waking).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from itertools import chain, starmap
from typing import Any, NamedTuple, cast
from uuid import UUID

from django.db import DatabaseError, connection

from accounts.joins import VALID_KEY_IDS
from ledger.plan import Statement
from ledger.state import COLUMNS, list_column_values
from ledger.writer import sql, store_postgresql, store_sqlite
from ledger.writer.run_writes import (
    ENTRY_COLUMNS,
    POSITION,
    RunWrite,
    build_count_statement,
    count_spent,
    join_names,
    list_entry_rows,
)
from ledger.writer.sql import Row
from ledger.writer.store_postgresql import CHANNEL

# More entries than this are stored as a batch is: that is faster for them, and each
# number of them would be another statement to prepare.
SINGLE_STATEMENT_ENTRIES = 2

# The clock is read outside, when the lock inside has been got.
_PG_LOCK_PROJECT = """
SELECT clock_timestamp(), held.* FROM (
  SELECT position, halts_version FROM ledger_projecthead WHERE project_id = %s
  FOR UPDATE
) AS held
"""
# A run that moved while this waited is read again: it is locked, too.
_PG_LOCK_RUN = """
SELECT clock_timestamp(), held.* FROM (
  SELECT head.position, head.halts_version, {columns} FROM ledger_projecthead head
  JOIN ledger_run run ON run.project_id = head.project_id
  WHERE run.code = %s FOR UPDATE OF head, run
) AS held
"""
_SQLITE_PROJECT = "SELECT halts_version FROM ledger_projecthead WHERE project_id = %s"
_SQLITE_RUN = (
    "SELECT coalesce(head.halts_version, 0), {columns} FROM ledger_run run "
    "LEFT JOIN ledger_projecthead head ON head.project_id = run.project_id "
    "WHERE run.code = %s"
)


class ProjectLock(NamedTuple):
    """A project that is held until the transaction ends: the time, read after the lock,
    how far its ledger goes, and the version of its halts. By this clock everybody goes
    who writes into this database. In SQLite BEGIN IMMEDIATE already holds the only write
    lock there is."""

    at: datetime
    position: int
    halts_version: int


def lock_project(project_id: int) -> ProjectLock:
    if connection.vendor == "postgresql":
        (held,) = sql.execute(_PG_LOCK_PROJECT, [project_id])
        return ProjectLock(*held)
    ((version,),) = sql.execute(_SQLITE_PROJECT, [project_id])
    return ProjectLock(datetime.now(UTC), 0, version)


def lock_run(code: UUID, names: tuple[str, ...]) -> tuple[ProjectLock, Row] | None:
    """The same by a run, and the run as it stands while its project is held."""
    if connection.vendor == "postgresql":
        rows = sql.execute(_write_columns(_PG_LOCK_RUN, names), [code])
        return (ProjectLock(*rows[0][:3]), rows[0][3:]) if rows else None
    rows = sql.execute(_write_columns(_SQLITE_RUN, names), [code])
    if not rows:
        return None
    version, *row = rows[0]
    return ProjectLock(datetime.now(UTC), 0, version), tuple(row)


@cache
def _write_columns(statement: str, names: tuple[str, ...]) -> str:
    return statement.format(columns=", ".join(f"run.{name}" for name in names))


def create_project_head(project_id: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO ledger_projecthead (project_id, position, halts_version) "
            "VALUES (%s, 0, 0) "
            "ON CONFLICT (project_id) DO NOTHING",
            [project_id],
        )


def store_runs(writes: Sequence[RunWrite]) -> set[int]:
    """Store those whose head has not moved; returns the ids of these runs."""
    if connection.vendor == "postgresql":
        return store_postgresql.store_runs(writes)
    return store_sqlite.store_runs(writes)


def get_session_pid() -> int | None:
    """By this number others know whose notification it is; None where there are none."""
    if connection.vendor != "postgresql":
        return None
    connection.ensure_connection()
    return cast("int", connection.connection.info.backend_pid)


def store_locked(
    write: RunWrite, held: ProjectLock, more: Sequence[Statement] = ()
) -> frozenset[int]:
    """One run of a locked project, and what belongs to it. Returns the ids of its agent's
    valid keys where somebody may wait for the run and the database tells them along."""
    if (
        connection.vendor == "postgresql"
        and len(write.entries) <= SINGLE_STATEMENT_ENTRIES
    ):
        counts = starmap(build_count_statement, count_spent([write]).items())
        rows = _store_in_one_statement(write, held, more)
        for statement in counts:
            sql.execute(*statement)
        won, keys = bool(rows), frozenset(chain(*(row[1] for row in rows)))
    else:
        won, keys = bool(store_runs([write])), frozenset[int]()
        for each in more:
            sql.execute(*each)
    if not won:
        raise DatabaseError("The run moved although its project was held.")
    return keys


def _store_in_one_statement(
    write: RunWrite, held: ProjectLock, more: Sequence[Statement]
) -> list[Row]:
    given = [*list_column_values(write.state), write.state.id, write.old_hash]
    given += [held.position + len(write.entries), write.state.project_id]
    rows = list_entry_rows(write.entries)
    for position, row in enumerate(rows, held.position + 1):
        given += [*row, position]
    also = chain.from_iterable(each.parameters for each in more)
    agent = [write.state.agent_id] if write.wakes else []
    form = _build_store_statement(
        len(write.entries), write.wakes, tuple(each.text for each in more)
    )
    return sql.execute(form, [*to_texts(given), *also, *to_texts(agent)])


def to_texts(given: Sequence[Any]) -> list[str | None]:
    """psycopg names another type as soon as a number grows, which makes another
    statement to prepare."""
    return [None if value is None else str(value) for value in given]


@cache
def _build_store_statement(entries: int, wakes: bool, more: tuple[str, ...]) -> str:
    columns = (*ENTRY_COLUMNS, POSITION)
    row = ", ".join(f"%s::{kind}" for _, kind in columns)
    also = "".join(f", also_{number} AS ({text})" for number, text in enumerate(more))
    return f"""
WITH won AS (
  UPDATE ledger_run SET {", ".join(f"{name} = %s::{kind}" for name, kind in COLUMNS)}
  WHERE id = %s::bigint AND head_hash = %s RETURNING id
), bumped AS (
  UPDATE ledger_projecthead SET position = %s::bigint WHERE project_id = %s::bigint
), stored AS (
  INSERT INTO ledger_entry ({join_names(columns)})
  VALUES {", ".join([f"({row})"] * entries)}
){also}
SELECT id, {NOTIFY if wakes else "ARRAY[]::bigint[]"} FROM won
"""  # noqa: S608 (column names are constants)


# Agents that wait are answered without another query (bench waking).
NOTIFY = f"""
  ARRAY({VALID_KEY_IDS}),
  pg_notify('{CHANNEL}', id::text)
"""
