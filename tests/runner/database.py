"""The test database: made once, then copied, until a migration changes.

The template is known by its migrations, what they use and Django's version, so it is made anew
after each change. SQLite's is a file in `.cache`, made from the prepared schema where that is
not older; PostgreSQL's is migrated, a database beside ours.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings
from django.db import connection

from config.database.prepared import (
    compute_migrations_digest,
    create_prepared_schema,
)

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / ".cache"
# Nobody else's: a number that stands for "somebody makes a template".
LOCK = 0x43524C54
TEMPLATES = "checkrail_template_"


@contextmanager
def migrated_database() -> Iterator[None]:
    """Django's connection leads to a database with every table and no row."""
    real = str(connection.settings_dict["NAME"])
    if connection.vendor == "postgresql":
        _create_postgres()
    else:
        _create_sqlite()
    try:
        yield
    finally:
        _end_other_sessions()
        connection.creation.destroy_test_db(real, verbosity=0)


def get_sqlite_template() -> Path:
    return CACHE / f"template-{_get_key()}.sqlite3"


def _get_key() -> str:
    return compute_migrations_digest()[:16]


def _create_sqlite() -> None:
    template = get_sqlite_template()
    name = _get_test_name()
    # A run that was killed leaves a log behind, which belongs to the old file alone.
    for left in (name, f"{name}-wal", f"{name}-shm"):
        Path(left).unlink(missing_ok=True)
    CACHE.mkdir(exist_ok=True)
    # One process builds it, and the others wait.
    with Path(CACHE, "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not template.exists():
            for old in CACHE.glob("template-*.sqlite3"):
                old.unlink()
            _use(name)
            if not create_prepared_schema():
                _migrate()
            unfinished = template.with_suffix(f".{os.getpid()}")
            with connection.cursor() as cursor:
                cursor.execute("VACUUM INTO %s", [str(unfinished)])
            unfinished.rename(template)
            return
    shutil.copy(template, name)
    _use(name)


def _create_postgres() -> None:
    name = _get_test_name()
    template = f"{TEMPLATES}{_get_key()}"
    # A connection of its own, to neither of the two: both are closed while one is copied.
    with connection._nodb_cursor() as cursor:
        cursor.execute("SET lock_timeout = 0")
        cursor.execute("SELECT pg_advisory_lock(%s)", [LOCK])
        found = "SELECT datname FROM pg_database WHERE starts_with(datname, %s)"
        cursor.execute(found, [TEMPLATES])
        known = {row[0] for row in cursor.fetchall()}
        if template not in known:
            for old in known:
                cursor.execute(f'DROP DATABASE "{old}"')
            _migrate()
            _close()
            cursor.execute(f'CREATE DATABASE "{template}" TEMPLATE "{name}"')
            return
        cursor.execute(f'DROP DATABASE IF EXISTS "{name}"')
        cursor.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
    _use(name)


def _get_test_name() -> str:
    """As Django and its plug-in for pytest name it: one for each process."""
    name: str = connection.creation._get_test_db_name()  # type: ignore[attr-defined]
    return name


def _migrate() -> None:
    connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)


def _use(name: str) -> None:
    """What Django does with the name of a test database it has made itself."""
    connection.close()
    settings.DATABASES[connection.alias]["NAME"] = name
    connection.settings_dict["NAME"] = name


def _end_other_sessions() -> None:
    """PostgreSQL drops no database that a thread of a stopped server still holds."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
    _close()


def _close() -> None:
    connection.close()
    if connection.vendor == "postgresql":
        connection.close_pool()  # type: ignore[attr-defined]
