"""The database itself refuses to forget: entries, policy versions and rulings."""

from __future__ import annotations

import httpx
import pytest
from django.db import DatabaseError, connection, transaction

from tests.builders import pause_at_once, start_run
from tests.ledger.triggers import run_sql
from tests.people import rule
from tests.rows import each_row

TABLES = ("ledger_entry", "guidance_policyversion", "reviews_ruling")


@pytest.fixture(autouse=True)
def rows(agent: httpx.Client, reviewer: httpx.Client) -> None:
    """At least one row in every table."""
    rule(reviewer, pause_at_once(agent, start_run(agent)), "approve")


@each_row("table", TABLES)
@each_row(
    "statement",
    [
        "UPDATE {table} SET id = id",
        "UPDATE {table} SET id = id + 1000000 WHERE id = (SELECT max(id) FROM {table})",
        "DELETE FROM {table}",
        "DELETE FROM {table} WHERE id = (SELECT max(id) FROM {table})",
    ],
)
def test_nothing_is_changed_or_deleted(table: str, statement: str) -> None:
    before = _count(table)

    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        run_sql(statement.format(table=table))

    assert _count(table) == before


@pytest.mark.parametrize("table", TABLES)
def test_nothing_is_truncated(table: str) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite knows no TRUNCATE.")
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        run_sql(f"TRUNCATE {table} CASCADE")


def test_a_chain_cannot_fork(agent: httpx.Client) -> None:
    """Two entries after the same one, or two of the same number, are refused."""
    run = start_run(agent)
    names = "project_id, version, at, type, actor, payload, payload_sha256, decision"
    copy = (
        f"INSERT INTO ledger_entry ({names}, run_id, seq, position, prev_hash, hash) "
        f"SELECT {names}, run_id, seq + {{seq}}, position + 1000000, {{prev}}, hash "
        "FROM ledger_entry WHERE run_id = (SELECT id FROM ledger_run WHERE code = %s)"
    )
    code = run if connection.vendor == "postgresql" else run.replace("-", "")
    for seq, prev in ((1, "prev_hash"), (0, "hash")):
        with pytest.raises(DatabaseError), transaction.atomic():
            run_sql(copy.format(seq=seq, prev=prev), [code])


def _count(table: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM {table}")
        return int(cursor.fetchone()[0])
