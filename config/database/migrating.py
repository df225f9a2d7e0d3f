"""The time that a migration waits for the locks of others, and whose those are.

On PostgreSQL a statement that waits for a table holds up all that come after it, for as long
as it waits. So it waits for less time than requests do, and then lets them pass.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

from django.conf import settings
from django.db import (
    DEFAULT_DB_ALIAS,
    Error,
    OperationalError,
    connection,
    connections,
)
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created
from psycopg.errors import DeadlockDetected, LockNotAvailable

# Requests wait for two seconds (config.environment): none is refused for a migration.
LOCK_MS = 1_000
# SQLite lets others write while one waits.
BUSY_MS = 30_000
PAUSE_SECONDS = 3.0
LOOK_SECONDS = 0.2

_LIMITS = {
    "lock_timeout": LOCK_MS,
    # To fill a column or build an index may take as long as it takes, also in Python.
    "statement_timeout": 0,
    "idle_in_transaction_session_timeout": 0,
}
_BLOCKERS = """
SELECT pid, usename, state, left(query, 120),
  extract(epoch FROM now() - xact_start)::int
FROM pg_stat_activity WHERE pid = ANY(pg_blocking_pids(%s))
"""


logger = logging.getLogger(__name__)


@contextmanager
def limit_waits() -> Iterator[None]:
    """Have this thread's connection, and one that takes its place, wait as migrations do."""

    def limit(connection: BaseDatabaseWrapper, **_named: Any) -> None:
        _set_limits(connection, own=True)

    # To connect may have to wait, too: a migration does, and is tried again.
    if connection.connection is not None:
        limit(connection)
    connection_created.connect(limit)
    try:
        yield
    finally:
        connection_created.disconnect(limit)
        if connection.connection is not None and not connection.in_atomic_block:
            _set_limits(connection, own=False)


def _set_limits(link: BaseDatabaseWrapper, *, own: bool) -> None:
    with link.cursor() as cursor:
        if link.vendor == "sqlite":
            usual = int(settings.DATABASES["default"]["OPTIONS"]["timeout"] * 1000)
            cursor.execute(f"PRAGMA busy_timeout = {BUSY_MS if own else usual}")
            return
        for name, value in _LIMITS.items():
            cursor.execute(f"SET {name} = {value}" if own else f"RESET {name}")


class LockWatch:
    """Looks what this thread's connection waits for, on a connection of its own: when the
    wait is over it is too late to ask."""

    def __init__(self) -> None:
        self._ended = threading.Event()
        self._seen: list[str] = []
        self._watched = connections[DEFAULT_DB_ALIAS]
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Self:
        if self._watched.vendor == "postgresql":
            self._thread.start()
        return self

    def __exit__(self, *_raised: object) -> None:
        self._ended.set()
        if self._thread.ident is not None:
            self._thread.join()

    def describe(self, error: OperationalError) -> str | None:
        """Whom it has waited for in vain; None where the error is about something else."""
        if self._watched.vendor == "sqlite":
            if "locked" not in str(error):
                return None
            name = self._watched.settings_dict["NAME"]
            return f"another process, which writes to {name} (is a server running?)"
        if not isinstance(error.__cause__, (LockNotAvailable, DeadlockDetected)):
            return None
        seen, self._seen = self._seen, []
        return f"a lock of {', '.join(seen)}" if seen else "a lock of another session"

    def _look(self) -> None:
        link = connections[DEFAULT_DB_ALIAS]
        try:
            while not self._ended.wait(LOOK_SECONDS):
                migrating = self._watched.connection
                if migrating is None or migrating.closed:
                    continue
                with link.cursor() as cursor:
                    cursor.execute(_BLOCKERS, [migrating.info.backend_pid])
                    rows = cursor.fetchall()
                self._seen = [_describe_session(*row) for row in rows] or self._seen
        except Error as error:
            logger.warning("What migrate waits for cannot be told: %s", error)
        finally:
            link.close()


def _describe_session(
    pid: int, user: str, state: str, query: str, seconds: int | None
) -> str:
    since = "" if seconds is None else f", in a transaction for {seconds} s"
    return f"session {pid} ({user}, {state}{since}: {' '.join(query.split())})"
