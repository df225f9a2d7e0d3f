"""Triggers that make a table append-only, in the words of both databases.

Raw SQL in plain migrations: the refusal is the database's own, whatever code runs. Who may
change the schema can take a trigger away, so what stands there is compared with what was
written (`list_faults`).
"""

from __future__ import annotations

from collections.abc import Iterator

from django.apps.registry import Apps
from django.db import connection
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations import RunPython

# Each protected table with all its keys.
KEYS: dict[str, tuple[tuple[str, ...], ...]] = {}


def register_append_only(table: str, *keys: tuple[str, ...]) -> None:
    """For apps at start-up: a table of theirs, and the columns of each of its keys.

    SQLite's REPLACE deletes whatever has one of them, and no trigger for DELETE is asked.
    A key that is added later needs a migration that puts the triggers there anew.
    """
    KEYS[table] = keys


def append_only(table: str) -> RunPython:
    """Refuse whatever would change, replace or delete a row of this registered table."""

    def protect(_apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
        for statement in protect_statements(table, editor.connection.vendor):
            editor.execute(statement)

    def release(_apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
        for statement in release_statements(table, editor.connection.vendor):
            editor.execute(statement)

    return RunPython(protect, release)


def protect_statements(table: str, vendor: str) -> list[str]:
    """Put every trigger there anew, whatever stands there now."""
    triggers = _build_triggers(table, vendor)
    if vendor == "sqlite":
        dropped = [f"DROP TRIGGER IF EXISTS {name}" for name in triggers]
        return dropped + list(triggers.values())
    return [
        f"CREATE OR REPLACE FUNCTION {table}_refuse() RETURNS trigger "
        f"LANGUAGE plpgsql AS $${_build_function_body(table)}$$",
        *(f"DROP TRIGGER IF EXISTS {name} ON {table}" for name in triggers),
        *triggers.values(),
        # Also for a session that calls itself a replica.
        *(f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER {name}" for name in triggers),
    ]


def release_statements(table: str, vendor: str) -> list[str]:
    names = _build_triggers(table, vendor)
    if vendor == "sqlite":
        return [f"DROP TRIGGER {name}" for name in names]
    return [
        *(f"DROP TRIGGER {name} ON {table}" for name in names),
        f"DROP FUNCTION {table}_refuse()",
    ]


def list_faults() -> list[str]:
    """A sentence for each trigger that is not as it was written."""
    return [fault for table in KEYS for fault in _find_faults(table)]


def _find_faults(table: str) -> Iterator[str]:
    expected = _build_triggers(table, connection.vendor)
    found = _read_stored_triggers(table)
    for name in sorted({*expected, *found}):
        if name not in found:
            yield f"{table} is not append-only: the trigger {name} is missing."
        elif name not in expected:
            yield f"{table} has a trigger that is not ours: {name}."
        elif found[name] != expected[name]:
            yield f"{table} is not append-only: the trigger {name} was changed."


def _build_triggers(table: str, vendor: str) -> dict[str, str]:
    """Name and text, the text exactly as the database gives it back."""
    if vendor == "postgresql":
        call = f"EXECUTE FUNCTION {table}_refuse()"
        before = {
            "no_change": f"BEFORE DELETE OR UPDATE ON {table} FOR EACH ROW",
            "no_truncate": f"BEFORE TRUNCATE ON {table} FOR EACH STATEMENT",
        }
        return {
            f"{table}_{name}": f"CREATE TRIGGER {table}_{name} {when} {call}"
            for name, when in before.items()
        }
    refuse = f"BEGIN SELECT RAISE(ABORT, '{_build_message(table)}'); END"
    before = {
        "no_update": f"BEFORE UPDATE ON {table}",
        "no_delete": f"BEFORE DELETE ON {table}",
        "no_replace": f"BEFORE INSERT ON {table} WHEN {_build_key_conflict_sql(table)}",
    }
    return {
        f"{table}_{name}": f"CREATE TRIGGER {table}_{name} {when} {refuse}"
        for name, when in before.items()
    }


def _build_key_conflict_sql(table: str) -> str:
    """One look for each key: a single one with OR would be planned at each insert."""
    looks = (
        f"EXISTS (SELECT 1 FROM {table} WHERE "  # noqa: S608 (names of this module)
        + " AND ".join(f"{column} = NEW.{column}" for column in key)
        + ")"
        for key in KEYS[table]
    )
    return " OR ".join(looks)


def _build_message(table: str) -> str:
    return f"{table} is append-only"


def _build_function_body(table: str) -> str:
    return f" BEGIN RAISE EXCEPTION '{_build_message(table)}'; END "


_PG_STORED = """
SELECT tgname, pg_get_triggerdef(pg_trigger.oid, true), tgenabled = 'A' AND prosrc = %s
FROM pg_trigger JOIN pg_proc ON pg_proc.oid = tgfoid
WHERE tgrelid = to_regclass(%s) AND NOT tgisinternal
"""
_SQLITE_STORED = """
SELECT name, sql, true FROM sqlite_master WHERE type = 'trigger' AND tbl_name = %s
"""


def _read_stored_triggers(table: str) -> dict[str, str]:
    """Those that are switched off, or call something else, have no text."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(_PG_STORED, [_build_function_body(table), table])
        else:
            cursor.execute(_SQLITE_STORED, [table])
        return {name: text if works else "" for name, text, works in cursor.fetchall()}
