"""The clock of the day: it stands still, and moves a few seconds before each request."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime, timedelta
from typing import Any

import time_machine
from django.db.backends.signals import connection_created

# A Thursday, far from the end of a month.
MORNING = datetime(2031, 5, 15, 8, 0, tzinfo=UTC)
STEP = timedelta(seconds=7)
# The functions of SQLite that can be asked for the present.
_FUNCTIONS = ("strftime", "datetime", "date", "time", "julianday", "unixepoch")


class Clock:
    """Python's time and SQLite's, moved together."""

    def __init__(self) -> None:
        self._travel = time_machine.travel(MORNING, tick=False)
        self._traveller = self._travel.start()

    def pass_time(self, passed: timedelta = STEP) -> None:
        self._traveller.shift(passed)

    def move_to(self, moment: datetime) -> None:
        assert moment >= datetime.now(UTC), "The day goes forward only."
        self._traveller.move_to(moment, tick=False)


def hold_database_clock() -> None:
    """Let every connection of Django's ask our clock; call it before the first opens."""
    connection_created.connect(_replace_functions, weak=False)


def _replace_functions(connection: Any, **_named: Any) -> None:
    if connection.vendor == "sqlite":
        opened: sqlite3.Connection = connection.connection
        for name in _FUNCTIONS:
            opened.create_function(name, -1, _Function(name))
        opened.create_function("current_timestamp", 0, _Function("datetime"))


class _Function:
    """One of SQLite's own functions, with our moment in place of its present."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self, *given: Any) -> Any:
        moment = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]
        values = [
            moment if isinstance(each, str) and each.lower() == "now" else each
            for each in given
        ]
        if len(values) == (1 if self._name == "strftime" else 0):
            values.append(moment)
        marks = ", ".join("?" * len(values))
        plain = sqlite3.connect(":memory:")
        try:
            return plain.execute(f"SELECT {self._name}({marks})", values).fetchone()[0]
        finally:
            plain.close()
