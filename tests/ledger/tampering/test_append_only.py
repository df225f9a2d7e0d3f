"""The database itself refuses to forget: entries, policy versions and rulings."""

from __future__ import annotations

import httpx
import psycopg
import pytest
from django.db import DatabaseError, connection, transaction

from accounts.models import Project
from common.append_only import KEYS
from tests.ledger.tampering.triggers import run_sql
from tests.support.builders import make_policy, pause_at_once, start_run
from tests.support.people import get_seen, rule
from tests.support.rows import each_row

TABLES = tuple(KEYS)
KEYS_OF_TABLES = [(table, key) for table, keys in KEYS.items() for key in keys]
NEWEST = "WHERE id = (SELECT max(id) FROM {table})"


@pytest.fixture(autouse=True)
def rows(
    project: Project, agent: httpx.Client, reviewer: httpx.Client, manager: httpx.Client
) -> None:
    """At least one row in every table: two people approve one review."""
    make_policy("careful", project=project, four_eyes={"rules": ["uncertainty"]})
    review = pause_at_once(agent, start_run(agent, policy="careful"))
    body = {"action": "approve", **get_seen(reviewer, review)}
    assert reviewer.post(f"/reviews/{review}/ruling", json=body).status_code == 202
    rule(manager, review, "approve")


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


@pytest.mark.parametrize("table", TABLES)
def test_every_key_is_known_to_the_trigger(table: str) -> None:
    """A key that it does not know could be used to replace a row."""
    with connection.cursor() as cursor:
        found = connection.introspection.get_constraints(cursor, table).values()
    unique = {
        tuple(sorted(each["columns"]))
        for each in found
        if each["unique"] or each["primary_key"]
    }

    assert unique == {tuple(sorted(key)) for key in KEYS[table]}


def copy_of_newest(table: str, key: tuple[str, ...], *, verb: str) -> str:
    """Insert the newest row that has this key once more: only the key is the same."""
    with connection.cursor() as cursor:
        described = connection.introspection.get_table_description(cursor, table)
    mine = ", ".join(
        each.name
        if each.name in key
        else f"{each.name} + 1000000"
        if each.name in {"id", "seq", "position", "version", "step_number", "review_id"}
        else f"'{each.name[:1] * 32}'"
        if each.name in {"prev_hash", "code"}
        else each.name
        for each in described
    )
    newest = f"SELECT max(id) FROM {table} WHERE {key[-1]} IS NOT NULL"
    return f"{verb} INTO {table} SELECT {mine} FROM {table} WHERE id = ({newest})"


@each_row("table, key", KEYS_OF_TABLES)
@each_row("verb", ["INSERT OR REPLACE", "REPLACE"])
@each_row("recursive", ["OFF", "ON"])
def test_sqlite_replaces_nothing(
    table: str, key: tuple[str, ...], verb: str, recursive: str
) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("PostgreSQL knows no REPLACE.")
    statement = copy_of_newest(table, key, verb=verb)
    before = _rows(table)

    run_sql(f"PRAGMA recursive_triggers = {recursive}")
    try:
        with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
            run_sql(statement)
    finally:
        run_sql("PRAGMA recursive_triggers = OFF")

    assert _rows(table) == before


@each_row("table", TABLES)
@each_row(
    "statement",
    [
        "INSERT INTO {table} SELECT * FROM {table} {newest} "
        "ON CONFLICT (id) DO UPDATE SET id = excluded.id",
        "UPDATE {replacing} {table} SET id = (SELECT min(id) FROM {table}) {newest}",
    ],
)
def test_nothing_is_changed_by_way_of_a_conflict(table: str, statement: str) -> None:
    replacing = "OR REPLACE" if connection.vendor == "sqlite" else ""
    newest = NEWEST.format(table=table)
    before = _rows(table)

    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        run_sql(statement.format(table=table, newest=newest, replacing=replacing))

    assert _rows(table) == before


@each_row("table", TABLES)
@each_row(
    "statement",
    [
        "UPDATE {table} SET id = id",
        "DELETE FROM {table}",
        "TRUNCATE {table} CASCADE",
        "MERGE INTO {table} old USING (SELECT max(id) AS id FROM {table}) new "
        "ON old.id = new.id WHEN MATCHED THEN DELETE",
    ],
)
def test_a_replica_changes_nothing_either(table: str, statement: str) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has no replicas.")
    with transaction.atomic():
        run_sql("SET LOCAL session_replication_role = replica")
        with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
            run_sql(statement.format(table=table))


@pytest.mark.parametrize("table", TABLES)
def test_copy_brings_no_row_twice(table: str) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite knows no COPY.")
    before = _rows(table)
    with connection.cursor() as cursor:
        with cursor.copy(f"COPY {table} TO STDOUT") as stored:
            lines = b"".join(stored)
        with (
            pytest.raises(psycopg.errors.UniqueViolation),
            transaction.atomic(),
            cursor.copy(f"COPY {table} FROM STDIN") as target,
        ):
            target.write(lines)

    assert _rows(table) == before


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


def _rows(table: str) -> list[tuple[object, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT * FROM {table} ORDER BY id")
        return list(cursor.fetchall())


def _count(table: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM {table}")
        return int(cursor.fetchone()[0])
