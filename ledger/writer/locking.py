"""A project held for one command: nobody else writes to it until the transaction ends.

What people and agents compete for is judged so. PostgreSQL needs two statements for it:
one that locks and reads, one that stores.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from itertools import chain
from typing import Any, NamedTuple
from uuid import UUID

from django.db import DatabaseError, connection

from ledger.state import COLUMNS, columns_of
from ledger.writer import sql
from ledger.writer.sql import Row, Statement
from ledger.writer.store_postgresql import (
    CHANNEL,
    ENTRY_COLUMNS,
    POSITION,
    RunWrite,
    entry_row,
    names_of,
    store,
)

# More entries than this are stored as a batch is: that is faster for them, and each
# number of them would be another statement to prepare.
FEW = 2

# The clock is read outside, when the lock inside has been got.
_PG_HOLD = """
SELECT clock_timestamp(), held.* FROM (
  SELECT position FROM ledger_projecthead WHERE project_id = %s FOR UPDATE
) AS held
"""
# A run that moved while this waited is read again: it is locked, too.
_PG_HOLD_RUN = """
SELECT clock_timestamp(), held.* FROM (
  SELECT head.position, {columns} FROM ledger_projecthead head
  JOIN ledger_run run ON run.project_id = head.project_id
  WHERE run.code = %s FOR UPDATE OF head, run
) AS held
"""
_SQLITE_RUN = "SELECT {columns} FROM ledger_run run WHERE run.code = %s"


class Held(NamedTuple):
    """A project that is held until the transaction ends: the time, read after the lock,
    and how far its ledger goes. By this clock everybody goes who writes into this
    database. In SQLite BEGIN IMMEDIATE already holds the only write lock there is."""

    at: datetime
    position: int


def hold_project(project_id: int) -> Held:
    if connection.vendor == "postgresql":
        ((at, position),) = sql.run(_PG_HOLD, [project_id])
        return Held(at, position)
    return Held(datetime.now(UTC), 0)


def hold_run(code: UUID, names: Sequence[str]) -> tuple[Held, Row] | None:
    """The same by a run, and the run as it stands while its project is held."""
    columns = ", ".join(f"run.{name}" for name in names)
    if connection.vendor == "postgresql":
        rows = sql.run(_PG_HOLD_RUN.format(columns=columns), [code])
        return (Held(*rows[0][:2]), rows[0][2:]) if rows else None
    rows = sql.run(_SQLITE_RUN.format(columns=columns), [code])
    return (Held(datetime.now(UTC), 0), rows[0]) if rows else None


def ensure_project_head(project_id: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO ledger_projecthead (project_id, position) VALUES (%s, 0) "
            "ON CONFLICT (project_id) DO NOTHING",
            [project_id],
        )


def store_held(
    write: RunWrite, held: Held, more: Sequence[Statement] = ()
) -> frozenset[int]:
    """One run of a project that is held, and what belongs to it. Of a run that wakes
    somebody: those keys of its agent of which is known that they are good."""
    if connection.vendor == "postgresql" and len(write.entries) <= FEW:
        rows = _stored_as_one(write, held, more)
        won, keys = bool(rows), frozenset(chain(*(row[1] for row in rows)))
    else:
        won, keys = bool(store([write])), frozenset[int]()
        for each in more:
            sql.run(*each)
    if not won:
        raise DatabaseError("The run moved although its project was held.")
    return keys


def _stored_as_one(write: RunWrite, held: Held, more: Sequence[Statement]) -> list[Row]:
    given = [*columns_of(write.state), write.state.id, write.old_hash]
    given += [held.position + len(write.entries), write.state.project_id]
    for position, entry in enumerate(write.entries, held.position + 1):
        given += [*entry_row(entry), position]
    also = chain.from_iterable(each.given for each in more)
    agent = [write.state.agent_id] if write.wakes else []
    form = _form(len(write.entries), write.wakes, tuple(each.text for each in more))
    return sql.run(form, [*_texts(given), *also, *_texts(agent)])


def _texts(given: Sequence[Any]) -> list[str | None]:
    """psycopg names another type as soon as a number grows, which makes another
    statement to prepare."""
    return [None if value is None else str(value) for value in given]


@cache
def _form(entries: int, wakes: bool, more: tuple[str, ...]) -> str:
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
  INSERT INTO ledger_entry ({names_of(columns)})
  VALUES {", ".join([f"({row})"] * entries)}
){also}
SELECT id, {_WAKES if wakes else "ARRAY[]::bigint[]"} FROM won
"""  # noqa: S608 (column names are constants)


# Whoever waits is told with nothing else to be looked up.
_WAKES = f"""
  ARRAY(SELECT door.id FROM accounts_agentkey door
        WHERE door.agent_id = %s::bigint AND door.revoked_at IS NULL),
  pg_notify('{CHANNEL}', id::text)
"""  # noqa: S608
