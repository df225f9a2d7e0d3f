"""A step changes its run's row in place: no index stands in the way, pages have room."""

from __future__ import annotations

import httpx
import pytest
from django.db import connection

from guidance.core.runs.shared_limits import PARTS
from ledger.models import ProjectHead, Run, SharedUse
from ledger.state import COLUMNS
from tests.ledger.tampering.triggers import run_sql
from tests.support.builders import start_run, step
from tests.support.waiting import until

STEPS = 300
# Old versions stay as long as anybody's snapshot needs them, and on a busy machine a read of
# another thread takes long: one of seven updates then finds no room. With an index in the way
# no update at all leaves it alone.
ROUNDS = 3
SHARE = 0.5
TABLES = tuple(each._meta.db_table for each in (Run, ProjectHead, SharedUse))
# These change a few times in the life of a run, not with every step.
SELDOM = {"status", "finished_at", "time_over_at"}


def indexed_columns(table: str) -> set[str]:
    with connection.cursor() as cursor:
        found = connection.introspection.get_constraints(cursor, table)
    return {
        name for each in found.values() if each["index"] for name in each["columns"]
    }


@pytest.mark.usefixtures("database")
def test_no_index_on_what_every_step_changes() -> None:
    changed = {name for name, _ in COLUMNS} - SELDOM

    assert not indexed_columns(Run._meta.db_table) & changed
    assert "position" not in indexed_columns(ProjectHead._meta.db_table)
    assert indexed_columns(SharedUse._meta.db_table).isdisjoint(PARTS)


@pytest.mark.usefixtures("database")
def test_pages_have_room() -> None:
    """Few steps on a new table find it anyway, so that is asked of the table."""
    if connection.vendor != "postgresql":
        pytest.skip("SQLite updates in place.")
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname FROM pg_class, pg_options_to_table(reloptions) "
            "WHERE option_name = 'fillfactor' AND option_value::int <= 40"
        )
        roomy = {name for (name,) in cursor.fetchall()}

    assert set(TABLES) <= roomy


def updates(table: str) -> tuple[int, int]:
    """All, and those that left the indexes alone; sessions report them when idle."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_clear_snapshot()")
        cursor.execute(
            "SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = %s",
            [table],
        )
        every, heap_only = cursor.fetchone()
    return every, heap_only


def test_steps_are_heap_only_updates(agent: httpx.Client) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite updates in place.")
    rounds = []
    for _ in range(ROUNDS):
        rounds.append(report_steps(agent))
        if min(rounds[-1].values()) > SHARE:
            return
    raise AssertionError(rounds)


def report_steps(agent: httpx.Client) -> dict[str, float]:
    """Of each table the share of updates that left its indexes alone."""
    run = start_run(agent)
    before = {table: updates(table) for table in TABLES}
    for number in range(1, STEPS + 1):
        body = step(number, checkpoint=True)
        assert agent.post(f"/runs/{run}/steps", json=body).status_code == 201
    run_sql("SELECT pg_stat_force_next_flush()")
    shares = {}
    for table, (began, began_heap_only) in before.items():
        until(lambda table=table, began=began: updates(table)[0] >= began + STEPS * 0.9)  # type: ignore[misc]
        every, heap_only = updates(table)
        shares[table] = (heap_only - began_heap_only) / (every - began)
    return shares
