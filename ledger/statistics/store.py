"""Add figures to their rows, in the transaction that moves the cursor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from django.db import connection
from django.db.models import Model

from ledger.models import PeriodCount, PeriodTotals, StatisticsCursor
from ledger.statistics.slices import COLUMNS, Figures, Key

_KEY_COLUMNS = ("project_id", *Key._fields)
# So many rows in one statement: databases take a limited number of parameters.
_ROWS_AT_ONCE = 200


def move_cursor(*, project_id: int, before: int, figures: Figures) -> bool:
    """False where somebody else has counted these entries. It locks the row."""
    moved = {"position": before + figures.entries}
    if figures.newest is not None:
        moved["at"] = figures.newest  # type: ignore[assignment]
    cursors = StatisticsCursor.objects.filter(project_id=project_id, position=before)
    return bool(cursors.update(**moved))


def add_figures(*, project_id: int, figures: Figures) -> None:
    totals = (
        (project_id, *_prepare(key), *sums)
        for key, sums in sorted(figures.totals.items())
    )
    _add(PeriodTotals, _KEY_COLUMNS, COLUMNS, totals)
    counts = (
        (project_id, *_prepare(key), kind, name, number)
        for (key, kind, name), number in sorted(figures.counts.items())
    )
    _add(PeriodCount, (*_KEY_COLUMNS, "kind", "key"), ("count",), counts)


def _prepare(key: Key) -> tuple[Any, ...]:
    """As the database takes it: numbers and texts are ready for both."""
    at = connection.ops.adapt_datetimefield_value(key.at)
    return (key.interval, at, *key[2:])


def _add(
    model: type[Model],
    keys: Sequence[str],
    sums: Sequence[str],
    rows: Iterator[tuple[Any, ...]],
) -> None:
    """Rows that are not there yet are made; the numbers of the others grow."""
    meta = model._meta
    names = ", ".join(f'"{name}"' for name in (*keys, *sums))
    keyed = ", ".join(f'"{name}"' for name in keys)
    grown = ", ".join(
        f'"{name}" = {meta.db_table}."{name}" + excluded."{name}"' for name in sums
    )
    head = f"INSERT INTO {meta.db_table} ({names}) "
    tail = f" ON CONFLICT ({keyed}) DO UPDATE SET {grown}"
    with connection.cursor() as cursor:
        while batch := list(islice(rows, _ROWS_AT_ONCE)):
            values, given = _write_values(model, (*keys, *sums), batch)
            cursor.execute(f"{head}{values}{tail}", given)


def _write_values(
    model: type[Model], names: Sequence[str], batch: Sequence[Sequence[Any]]
) -> tuple[str, list[Any]]:
    """The rows in SQL, and its parameters: one array for each column where the database
    has arrays, which is read several times as fast as thousands of values."""
    if connection.vendor != "postgresql":
        place = f"({', '.join(['%s'] * len(names))})"
        given = [value for row in batch for value in row]
        return f"VALUES {', '.join([place] * len(batch))}", given
    types = {each.column: each.rel_db_type(connection) for each in model._meta.fields}
    arrays = ", ".join(f"%s::{types[name]}[]" for name in names)
    columns = [list(column) for column in zip(*batch, strict=True)]
    return f"SELECT * FROM unnest({arrays})", columns  # noqa: S608 (our own names)
