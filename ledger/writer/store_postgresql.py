"""Store many runs' new heads and entries on PostgreSQL, by compare-and-set.

One statement does it (bench steps). The project's head row is locked first and in
order, so that positions are handed out in commit order and two processes never
deadlock; a run whose head is no longer the one we built on is left out, together with
its entries, and is missing from the answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ledger.state import COLUMNS, list_column_values
from ledger.writer import sql
from ledger.writer.run_writes import (
    ENTRY_COLUMNS,
    POSITION,
    RunWrite,
    join_names,
    list_entry_values,
)

CHANNEL = "checkrail"


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


def store_runs(writes: Sequence[RunWrite]) -> set[int]:
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
