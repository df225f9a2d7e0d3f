"""Store many runs' new heads, entries and rows on PostgreSQL, by compare-and-set.

One statement does it (bench steps). The project's head row is locked first and in
order, so that positions are handed out in commit order and two processes never
deadlock; a run whose head is no longer the one we built on, whose project has other
halts than those it was decided by, or which shares a limit that it was not decided by, is
left out, together with its entries and rows, and is missing from the answer. What the
others spend is counted after them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from ledger.plan import NewRow, Statement, Table
from ledger.state import (
    COLUMNS,
    STEP_COLUMNS,
    format_lineage,
    list_column_values,
    list_step_values,
)
from ledger.writer import sql
from ledger.writer.new_rows import write_insert_for_runs
from ledger.writer.run_writes import (
    ADD_ON_CONFLICT,
    COUNTER_COLUMNS,
    COUNTERS,
    ENTRY_COLUMNS,
    POSITION,
    ZEROS,
    RunWrite,
    join_names,
    list_entry_rows,
)
from ledger.writer.sent import Sent
from ledger.writer.shared_use import LIMITED

CHANNEL = "checkrail"


# Columns of JSON, or of base64.
_JSON = frozenset({"memory", "open_reviews", "payload"})


def _join_arrays(columns: Sequence[tuple[str, str]]) -> str:
    return ", ".join(
        sql.SPLIT_JSON if name in _JSON else f"%s::{kind}[]" for name, kind in columns
    )


# What is known of a run beside the columns that are set.
RUN_FACTS: tuple[tuple[str, str], ...] = (
    ("run_id", "bigint"),
    ("project_id", "bigint"),
    ("agent_id", "bigint"),
    ("lineage", "text"),
    ("old_hash", "text"),
    ("halts_version", "integer"),
    ("wakes", "boolean"),
    ("shares_nothing", "boolean"),
    ("spent_tokens", "bigint"),
    ("spent_tool_calls", "bigint"),
    ("spent_cost_micros", "bigint"),
)


@cache
def _write_store(
    columns: tuple[tuple[str, str], ...], tables: tuple[Table, ...] = ()
) -> str:
    """The statement that sets these columns of the runs, and fills these tables."""
    inserts = "".join(
        f", inserted_{number} AS ({write_insert_for_runs(table, 'won')})"
        for number, table in enumerate(tables)
    )
    return f"""
WITH v AS (
  SELECT * FROM unnest(
    {_join_arrays(RUN_FACTS)}, {_join_arrays(columns)}
  ) AS v({join_names(RUN_FACTS)}, {join_names(columns)})
), locked AS MATERIALIZED (
  SELECT project_id, position, halts_version AS halts_now FROM ledger_projecthead
  WHERE project_id IN (SELECT project_id FROM v) ORDER BY project_id FOR UPDATE
), won AS (
  UPDATE ledger_run r SET {", ".join(f"{name} = v.{name}" for name, _ in columns)}
  FROM v JOIN locked USING (project_id)
  WHERE r.id = v.run_id AND r.head_hash = v.old_hash
    AND (v.halts_version IS NULL OR v.halts_version = locked.halts_now)
    AND NOT (v.shares_nothing AND {LIMITED.format(agent="v.agent_id", run="v.run_id")})
  RETURNING r.id AS run_id, v.wakes
), e AS (
  SELECT * FROM unnest({_join_arrays(ENTRY_COLUMNS)}) WITH ORDINALITY
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
), spending AS (
  SELECT v.*, to_char(v.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day
  FROM v JOIN won USING (run_id)
  WHERE (v.spent_tokens, v.spent_tool_calls, v.spent_cost_micros) <> (0, 0, 0)
), counted AS (
  INSERT INTO {COUNTERS} ({", ".join(COUNTER_COLUMNS)})
  SELECT scope, owner, period,
    sum(spent_tokens), sum(spent_tool_calls), sum(spent_cost_micros), {ZEROS}
  FROM spending CROSS JOIN LATERAL (
    VALUES ('agent', agent_id, day), ('project', project_id, day),
      ('project', project_id, left(day, 7))
    UNION ALL SELECT 'run', above::bigint, ''
      FROM unnest(string_to_array(rtrim(lineage, '/'), '/')) AS above
  ) AS counter(scope, owner, period)
  GROUP BY scope, owner, period ORDER BY scope, owner, period
  {ADD_ON_CONFLICT}
){inserts}
SELECT run_id, CASE WHEN wakes THEN pg_notify('{CHANNEL}', run_id::text) END FROM won
"""  # noqa: S608 (column names are constants of this module)


# A statement sees what was there when it began: what others count while this one waits for
# the projects is seen by the next one alone.
_LOCK = """
SELECT project_id FROM ledger_projecthead
WHERE project_id = ANY(%s::bigint[]) ORDER BY project_id FOR UPDATE
"""


def store_runs(writes: Sequence[RunWrite]) -> set[int]:
    """Returns the ids of those that were stored."""
    return {row[0] for row in sql.execute(*_build_store(writes, {}))}


def send_runs(writes: Sequence[RunWrite], rows: Sequence[tuple[int, NewRow]]) -> Sent:
    """The same with rows, each with the id of its run: one transaction, whose answer is
    fetched later. Nothing is known to limit calls among them by what others have used, so
    that this is looked up after the projects are locked."""
    by_table: dict[Table, list[tuple[Any, ...]]] = {}
    for run_id, row in rows:
        by_table.setdefault(row.table, []).append((*row.values, run_id))
    statements = [_build_store(writes, by_table)]
    if any(write.takes_calls for write in writes):
        projects = sql.format_ids({write.state.project_id for write in writes})
        statements.insert(0, Statement(_LOCK, [projects]))
    return Sent(
        [Statement(sql.write_raw_parameters(text), given) for text, given in statements]
    )


def _build_store(
    writes: Sequence[RunWrite], by_table: dict[Table, list[tuple[Any, ...]]]
) -> Statement:
    """Where no more changes than with every step, no more is sent (bench steps)."""
    plain = all(write.is_plain for write in writes)
    columns, list_values = (
        (STEP_COLUMNS, list_step_values) if plain else (COLUMNS, list_column_values)
    )
    heads = [(*_list_facts(each), *list_values(each.state)) for each in writes]
    rows = list_entry_rows(entry for write in writes for entry in write.entries)
    given = [
        *_format_columns((*RUN_FACTS, *columns), heads),
        *_format_columns(ENTRY_COLUMNS, rows),
    ]
    for added in by_table.values():
        given += map(sql.format_array, zip(*added, strict=True))
    return Statement(_write_store(columns, tuple(by_table)), given)


def _format_columns(
    columns: Sequence[tuple[str, str]], rows: Sequence[tuple[Any, ...]]
) -> list[str]:
    return [
        sql.join_json(values) if name in _JSON else sql.format_array(values)
        for (name, _), values in zip(columns, zip(*rows, strict=True), strict=True)
    ]


def _list_facts(write: RunWrite) -> tuple[Any, ...]:
    """The values of RUN_FACTS, in their order."""
    state, spent = write.state, write.spent
    return (
        state.id,
        state.project_id,
        state.agent_id,
        format_lineage(state.ancestors),
        write.old_hash,
        write.halts_version,
        write.wakes,
        write.shares_nothing,
        spent.tokens,
        spent.tool_calls,
        spent.cost_micros,
    )
