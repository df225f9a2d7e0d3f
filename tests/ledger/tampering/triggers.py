"""What an attacker with the database in hand can do: take the triggers away."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from django.db import connection

from common.append_only import protect_statements, release_statements


@contextmanager
def without_triggers(table: str) -> Iterator[None]:
    """The table can be changed inside; afterwards it is as protected as before."""
    for statement in release_statements(table, connection.vendor):
        run_sql(statement)
    try:
        yield
    finally:
        for statement in protect_statements(table, connection.vendor):
            run_sql(statement)


def run_sql(statement: str, values: Sequence[Any] = ()) -> int:
    """How many rows were touched."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values or None)
        return int(cursor.rowcount)
