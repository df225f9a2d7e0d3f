"""A run that was read before its change request had its turn: one statement stores it.

What most rulings are decided by is their run, the halts of its project and the clock. All
of them come with the review that is ruled on. The statement that stores the change holds
the project, asks whether they are still the same, and commits: a lock taken before would
have added nothing but its way to the database and back (bench waking). If anything has
moved, nothing is stored, and the request is decided under the lock as any other
(docs/adr/0047).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import cache
from itertools import chain, starmap
from typing import Any, NamedTuple

from django.db import DatabaseError, DataError, connection

from common.errors import DomainError
from ledger.models import Run
from ledger.plan import Change, Statement
from ledger.state import COLUMNS, RunState, build_state, list_column_values
from ledger.writer import sql
from ledger.writer.changes import ChangeRequest, SeenRun
from ledger.writer.halts import HaltCache, ProjectHalts, list_moves
from ledger.writer.jobs import Job
from ledger.writer.locking import (
    NOTIFY,
    SINGLE_STATEMENT_ENTRIES,
    to_texts,
)
from ledger.writer.new_rows import build_insert
from ledger.writer.run_writes import (
    ENTRY_COLUMNS,
    POSITION,
    RunWrite,
    build_count_statement,
    count_spent,
    join_names,
    list_entry_rows,
)
from ledger.writer.state_cache import RUN_COLUMNS

# Who has waited for the project for longer is decided again, by the clock as it is then.
LONGEST = "250 milliseconds"
# Said by the database, which then stores nothing.
_MOVED = "not as it was read, and decided again"
# The clock, the version of the halts and the run, of tables named `run` and `head`.
SEEN_COLUMNS = ", ".join(
    (
        "clock_timestamp()",
        "head.halts_version",
        *(f"run.{name}" for name in RUN_COLUMNS),
    )
)
SEEN_COUNT = 2 + len(RUN_COLUMNS)
JOIN_HEAD = "JOIN ledger_projecthead head ON head.project_id = run.project_id"


def build_seen(values: Sequence[Any], *, read_at: float) -> tuple[Run, SeenRun]:
    """Of the values of SEEN_COLUMNS; `read_at` is when they were read, by `time.monotonic`,
    which is taken to be halfway between question and answer."""
    at, halts_version, *row = values
    run = sql.build_instance(Run, RUN_COLUMNS, row)
    seen = SeenRun(
        at=at, read_at=read_at, halts_version=halts_version, run=build_state(run)
    )
    return run, seen


class Stored(NamedTuple):
    """What was stored of one run, and the ids of its agent's keys known to be valid."""

    write: RunWrite
    change: Change[Any]
    valid_key_ids: frozenset[int]


Decide = Callable[
    [ChangeRequest[Any], RunState, datetime, ProjectHalts], tuple[Change[Any], RunWrite]
]


def commit_seen(job: Job, halts: HaltCache, decide: Decide) -> Stored | None:
    """Decided on the run as it was read, and committed; None where nothing was stored, and
    it has to be decided under the lock."""
    request = job.request
    found = _find_seen(request, halts)
    if found is None:
        return None
    seen, known = found
    try:
        change, write = decide(request, seen.run, seen.compute_now(), known)
    except DomainError:
        return None  # by what may have moved: judged again
    if not _fits_one_statement(change, write):
        return None
    plan = change.plan
    more = [*map(build_insert, plan.rows), *plan.statements]
    job.committing = True
    try:
        keys = _store(write, seen, more)
    except DatabaseError as error:
        job.committing = not _was_refused(error)
        raise
    job.committing = keys is not None
    return None if keys is None else Stored(write, change, keys)


def _was_refused(error: DatabaseError) -> bool:
    """Whether PostgreSQL itself said that nothing is stored: a value, a key, a conflict, a
    lock. Where the connection was lost, nobody knows."""
    state = getattr(error.__cause__, "sqlstate", None) or ""
    return state[:2] in {"22", "23", "40", "42", "55"} and state != "40003"


def _find_seen(
    request: ChangeRequest[Any], halts: HaltCache
) -> tuple[SeenRun, ProjectHalts] | None:
    """What the request may be decided by, tried once; None where it takes the lock."""
    seen, request.seen_run = request.seen_run, None
    if seen is None or request.idempotency is not None or request.shares:
        return None
    known = halts.get_at(seen.run.project_id, seen.halts_version)
    if known.version != seen.halts_version or list_moves(seen.run, known):
        return None
    return (seen, known) if request.rests_on_run_alone(seen.run) else None


def _fits_one_statement(change: Change[Any], write: RunWrite) -> bool:
    plan = change.plan
    return (
        change.answer is None
        and change.refusal is None
        and not plan.side_updates
        and not plan.changes_halts
        and 0 < len(write.entries) <= SINGLE_STATEMENT_ENTRIES
    )


def _store(
    write: RunWrite, seen: SeenRun, more: Sequence[Statement]
) -> frozenset[int] | None:
    """Store the run and what belongs to it, and commit; None where it has moved. Returns
    the ids of its agent's valid keys where somebody may wait for it."""
    counts = starmap(build_count_statement, count_spent([write]).items())
    more = [*more, *counts]
    state, entries = write.state, write.entries
    given: list[Any] = [state.project_id, seen.halts_version]
    given += [*list_column_values(state), state.id, write.old_hash, seen.at]
    given += [len(entries), state.project_id]
    given += chain.from_iterable(list_entry_rows(entries))
    also = chain.from_iterable(each.parameters for each in more)
    agent = [state.agent_id] if write.wakes else []
    texts = tuple(each.text for each in more)
    statement = _write_statement(len(entries), write.wakes, texts)
    try:
        rows = sql.execute(statement, [*to_texts(given), *also, *to_texts(agent)])
    except DataError as error:
        if _MOVED not in str(error):
            raise
        return None
    return frozenset(rows[0][1])


def can_be_seen() -> bool:
    """SQLite's own lock comes first in any case."""
    return connection.vendor == "postgresql"


@cache
def _write_statement(entries: int, wakes: bool, more: tuple[str, ...]) -> str:
    columns = (*ENTRY_COLUMNS, POSITION)
    values = ", ".join(f"%s::{kind}" for _, kind in ENTRY_COLUMNS)
    rows = " UNION ALL ".join(
        f"SELECT {values}, won.position + {number} FROM won"  # noqa: S608
        for number in range(1, entries + 1)
    )
    also = "".join(f", also_{number} AS ({text})" for number, text in enumerate(more))
    return f"""
WITH locked AS MATERIALIZED (
  SELECT project_id, position FROM ledger_projecthead
  WHERE project_id = %s::bigint AND halts_version = %s::integer FOR UPDATE
), won AS (
  UPDATE ledger_run run SET {", ".join(f"{name} = %s::{kind}" for name, kind in COLUMNS)}
  FROM locked WHERE run.id = %s::bigint AND run.head_hash = %s
    AND run.project_id = locked.project_id
    AND clock_timestamp() < %s::timestamptz + interval '{LONGEST}'
  RETURNING run.id, locked.position
), bumped AS (
  UPDATE ledger_projecthead head SET position = won.position + %s::bigint
  FROM won WHERE head.project_id = %s::bigint
), stored AS (
  INSERT INTO ledger_entry ({join_names(columns)}) {rows}
){also}
SELECT coalesce(id, ('{_MOVED} at ' || clock_timestamp())::bigint),
  {NOTIFY if wakes else "ARRAY[]::bigint[]"}
FROM (SELECT 1) AS always LEFT JOIN won ON TRUE
"""  # noqa: S608 (column names are constants)
