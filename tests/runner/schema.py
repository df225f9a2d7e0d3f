"""Writes the prepared schema: `make schema`, after a migration was added.

    python -m tests.runner.schema

What is written is read off a database that Django has migrated.
"""

from __future__ import annotations

import os
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

# All that a migrated database without data has rows in.
FILLED = ("django_migrations", "django_content_type", "auth_permission")
# When a migration was applied, in the form that Django stores.
NOW = "strftime('%Y-%m-%d %H:%M:%f', 'now')"
_OBJECTS = """
SELECT sql FROM sqlite_master
WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite~_%' ESCAPE '~' AND name NOT IN (
    SELECT shadow.name FROM pragma_table_list AS shadow WHERE shadow.type = 'shadow'
)
ORDER BY type = 'trigger', type = 'index', sql LIKE 'CREATE VIRTUAL%', name
"""


def build_script(database: sqlite3.Connection) -> str:
    """Tables, indexes and triggers, and the rows that a migrated database has."""
    objects = [sql for (sql,) in database.execute(_OBJECTS)]
    lines = [f"{sql};" for sql in objects]
    for table in FILLED:
        lines += _build_inserts(database, table)
    return "\n".join(lines) + "\n"


def list_filled_tables(database: sqlite3.Connection) -> set[str]:
    """Ordinary tables that have a row."""
    names = [
        name
        for (name,) in database.execute(
            "SELECT name FROM pragma_table_list WHERE type = 'table' AND schema = 'main'"
        )
        if not name.startswith("sqlite_")
    ]
    return {
        name
        for name in names
        if database.execute(f'SELECT EXISTS (SELECT 1 FROM "{name}")').fetchone()[0]
    }


def _build_inserts(database: sqlite3.Connection, table: str) -> Iterator[str]:
    columns = [
        name
        for (name,) in database.execute(
            "SELECT name FROM pragma_table_info(?)", [table]
        )
    ]
    values = ", ".join("NULL" if name == "applied" else name for name in columns)
    for row in database.execute(f"SELECT {values} FROM {table} ORDER BY id"):
        quoted = ", ".join(map(_quote, row))
        yield f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({quoted});"


def _quote(value: str | int | None) -> str:
    if value is None:
        return NOW
    if isinstance(value, int):
        return str(value)
    return "'" + value.replace("'", "''") + "'"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
        os.environ["CHECKRAIL_DATA"] = folder
        os.environ.pop("DATABASE_URL", None)
        import django

        django.setup()
        from django.core.management import call_command
        from django.db import connection

        from config.database.prepared import (
            HEADING,
            PREPARED,
            compute_migrations_digest,
        )

        call_command("migrate", verbosity=0, interactive=False)
        connection.close()
        database = sqlite3.connect(Path(connection.settings_dict["NAME"]))
        script = build_script(database)
        database.close()
    PREPARED.write_text(f"{HEADING}{compute_migrations_digest()}\n{script}")
    sys.stdout.write(f"schema: {PREPARED.name} is written\n")


if __name__ == "__main__":
    main()
