"""A trigger that is gone, switched off or changed is noticed, and can be put back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.db import connection

from common.append_only import (
    KEYS,
    list_faults,
    protect_statements,
    release_statements,
)
from config.checks import refuse_unsafe
from tests.ledger.tampering.triggers import run_sql
from tests.support.builders import start_run
from tests.support.rows import each_row

pytestmark = pytest.mark.usefixtures("database")
TABLES = tuple(KEYS)

WEAKENED = {
    "sqlite": (
        "DROP TRIGGER {table}_no_update",
        "DROP TRIGGER {table}_no_delete",
        "DROP TRIGGER {table}_no_replace",
        "CREATE TRIGGER {table}_mine BEFORE INSERT ON {table} "
        "BEGIN SELECT RAISE(IGNORE); END",
    ),
    "postgresql": (
        "DROP TRIGGER {table}_no_truncate ON {table}",
        "ALTER TABLE {table} DISABLE TRIGGER {table}_no_change",
        "ALTER TABLE {table} ENABLE TRIGGER {table}_no_change",
        "ALTER TABLE {table} DISABLE TRIGGER USER",
        "CREATE OR REPLACE FUNCTION {table}_refuse() RETURNS trigger LANGUAGE plpgsql "
        "AS $$ BEGIN RETURN NEW; END $$",
        "CREATE OR REPLACE TRIGGER {table}_no_change BEFORE DELETE OR UPDATE ON {table} "
        "FOR EACH ROW WHEN (false) EXECUTE FUNCTION {table}_refuse()",
    ),
}
SCHEMA = (
    "DELETE FROM sqlite_master WHERE name = '{table}_no_replace'",
    "UPDATE sqlite_master SET sql = replace(sql, 'BEFORE UPDATE', 'BEFORE DELETE') "
    "WHERE name = '{table}_no_update'",
)


@pytest.fixture
def run(agent: httpx.Client) -> str:
    return start_run(agent)


@contextmanager
def weaken(table: str, *statements: str) -> Iterator[None]:
    """Afterwards it is as protected as before."""
    try:
        for statement in statements:
            run_sql(statement.format(table=table))
        yield
    finally:
        if connection.vendor == "sqlite":
            run_sql("PRAGMA writable_schema = RESET")
            run_sql(f"DROP TRIGGER IF EXISTS {table}_mine")
        for statement in protect_statements(table, connection.vendor):
            run_sql(statement)


def assert_noticed(table: str, run: str, capsys: pytest.CaptureFixture[str]) -> None:
    faults = list_faults()
    assert faults
    assert all(table in fault for fault in faults)
    with pytest.raises(ImproperlyConfigured, match=table):
        refuse_unsafe()
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        call_command("ledger_verify", run=run)
    assert ended.value.code == 1
    assert f"UNPROTECTED {faults[0]}" in capsys.readouterr().err


@each_row("table", TABLES)
def test_a_weakened_table_is_noticed(
    table: str, run: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for statement in WEAKENED[connection.vendor]:
        with weaken(table, statement):
            assert_noticed(table, run, capsys)
    assert list_faults() == []


@each_row("table", TABLES)
def test_a_schema_edited_by_hand_is_noticed(
    table: str, run: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("PostgreSQL has no writable_schema.")
    for statement in SCHEMA:
        with weaken(table, "PRAGMA writable_schema = ON", statement):
            assert_noticed(table, run, capsys)
    assert list_faults() == []


def test_triggers_are_put_back(capsys: pytest.CaptureFixture[str]) -> None:
    for table in TABLES:
        for statement in release_statements(table, connection.vendor):
            run_sql(statement)
    assert len(list_faults()) >= len(TABLES)

    call_command("ledger_protect")

    assert list_faults() == []
    assert f"{len(TABLES)} tables" in capsys.readouterr().out


def test_a_trigger_that_is_not_ours_stays_and_is_told(
    capsys: pytest.CaptureFixture[str],
) -> None:
    (table, *_), foreign = TABLES, FOREIGN[connection.vendor]
    try:
        for statement in foreign:
            run_sql(statement.format(table=table))
        with pytest.raises(SystemExit) as ended:
            call_command("ledger_protect")
    finally:
        remove = f"DROP TRIGGER {table}_mine"
        postgres = connection.vendor == "postgresql"
        run_sql(f"{remove} ON {table}" if postgres else remove)
    shown = capsys.readouterr()
    assert ended.value.code == 1
    assert f"STILL {table}" in shown.err
    assert "protected" not in shown.out
    assert list_faults() == []


FOREIGN = {
    "sqlite": [WEAKENED["sqlite"][-1]],
    "postgresql": [
        "CREATE OR REPLACE FUNCTION mine() RETURNS trigger LANGUAGE plpgsql "
        "AS $$ BEGIN RETURN NULL; END $$",
        "CREATE TRIGGER {table}_mine BEFORE INSERT ON {table} "
        "FOR EACH ROW EXECUTE FUNCTION mine()",
    ],
}
