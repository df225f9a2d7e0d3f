"""Triggers that make a table append-only, in the words of both databases.

Raw SQL in plain migrations: the refusal is the database's own, whatever code runs.
"""

from __future__ import annotations

from django.apps.registry import Apps
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations import RunPython


def append_only(table: str) -> RunPython:
    """Refuse UPDATE and DELETE on a table, and TRUNCATE where there is one."""

    def protect(_apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
        for statement in _protect(table, editor.connection.vendor):
            editor.execute(statement)

    def release(_apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
        for statement in _release(table, editor.connection.vendor):
            editor.execute(statement)

    return RunPython(protect, release)


def _protect(table: str, vendor: str) -> list[str]:
    message = f"{table} is append-only"
    if vendor == "sqlite":
        return [
            f"CREATE TRIGGER {table}_no_{verb.lower()} BEFORE {verb} ON {table} "
            f"BEGIN SELECT RAISE(ABORT, '{message}'); END"
            for verb in ("UPDATE", "DELETE")
        ]
    return [
        f"CREATE FUNCTION {table}_refuse() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE EXCEPTION '{message}'; END $$",
        f"CREATE TRIGGER {table}_no_change BEFORE UPDATE OR DELETE ON {table} "
        f"FOR EACH ROW EXECUTE FUNCTION {table}_refuse()",
        f"CREATE TRIGGER {table}_no_truncate BEFORE TRUNCATE ON {table} "
        f"FOR EACH STATEMENT EXECUTE FUNCTION {table}_refuse()",
    ]


def _release(table: str, vendor: str) -> list[str]:
    if vendor == "sqlite":
        return [f"DROP TRIGGER {table}_no_{verb}" for verb in ("update", "delete")]
    return [
        f"DROP TRIGGER {table}_no_change ON {table}",
        f"DROP TRIGGER {table}_no_truncate ON {table}",
        f"DROP FUNCTION {table}_refuse()",
    ]
