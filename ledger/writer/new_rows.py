"""Insert what belongs to a change: rows by one statement a table.

Rows that an agent waits for are given as values (`NewRow`): to make an instance of a model
and to ask its fields for their values takes longer than judging the call (bench: tool calls).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple

from django.db import connection
from django.db.models import NOT_PROVIDED, AutoField, Field, Model

from ledger.plan import NewRow, Statement, Table
from ledger.writer import sql


class Insert(NamedTuple):
    """Statements for one row, for many, and for those of `many` whose runs were stored.
    `uuids` are the places of such columns, which SQLite keeps as text of its own."""

    one: str
    many: str
    for_runs: str
    uuids: tuple[int, ...]


def insert_rows(rows: Sequence[Model | NewRow]) -> None:
    """In the order in which the tables first come up."""
    by_table: dict[object, list[Any]] = {}
    for row in rows:
        key = row.table if isinstance(row, NewRow) else type(row)
        by_table.setdefault(key, []).append(row)
    for table, of_table in by_table.items():
        if isinstance(table, Table):
            _insert_values(table, [row.values for row in of_table])
        elif len(of_table) == 1:
            sql.insert(of_table[0])
        else:
            sql.insert_all(of_table)


def build_insert(row: Model | NewRow) -> Statement:
    """For whoever does not need its id."""
    if isinstance(row, Model):
        return sql.build_insert(row)
    insert = _write_insert(row.table, connection.vendor)
    if connection.vendor == "postgresql":
        return Statement(insert.one, [_to_text(value) for value in row.values])
    return Statement(insert.one, _to_sqlite(row.values, insert.uuids))


def _insert_values(table: Table, rows: Sequence[Sequence[Any]]) -> None:
    insert = _write_insert(table, connection.vendor)
    if connection.vendor == "postgresql":
        columns = zip(*rows, strict=True)
        sql.execute(insert.many, [sql.format_array(column) for column in columns])
        return
    connection.ensure_connection()
    text = insert.one.replace("%s", "?")
    with connection.wrap_database_errors:
        given = [_to_sqlite(values, insert.uuids) for values in rows]
        connection.connection.executemany(text, given)


def write_insert_for_runs(table: Table, stored: str) -> str:
    """For PostgreSQL: many rows, each with the id of its run behind its values, of which
    those are inserted whose run is in `stored`."""
    return _write_insert(table, "postgresql").for_runs.format(stored=stored)


@cache
def _write_insert(table: Table, vendor: str) -> Insert:
    """The columns that are not named are what their model says of every new row."""
    fields = {field.attname: field for field in table.model._meta.concrete_fields}
    named = [fields.pop(name) for name in table.names]
    constant = {
        field.column: f"'{_get_constant(field)}'"
        for field in fields.values()
        if _get_constant(field) is not None
    }
    columns = (f'"{name}"' for name in (*(each.column for each in named), *constant))
    into = f'INSERT INTO "{table.model._meta.db_table}" ({", ".join(columns)})'
    # Without its length: a cast to varchar(80) would cut what is longer.
    kinds = [(field.db_type(connection) or "").partition("(")[0] for field in named]
    casts = [f"::{kind}" if vendor == "postgresql" else "" for kind in kinds]
    values = ", ".join([*(f"%s{cast}" for cast in casts), *constant.values()])
    arrays = ", ".join(f"%s{cast}[]" for cast in casts)
    names = [f"value_{place}" for place, _ in enumerate(named)]
    listed = ", ".join(names)
    chosen = ", ".join([*names, *constant.values()])
    return Insert(
        one=f"{into} VALUES ({values})",
        many=f"{into} SELECT {chosen} FROM unnest({arrays}) AS given({listed})",  # noqa: S608
        for_runs=(
            f"{into} SELECT {chosen} FROM unnest({arrays}, %s::bigint[]) "  # noqa: S608
            f"AS given({listed}, run) WHERE run IN (SELECT run_id FROM {{stored}})"
        ),
        uuids=tuple(place for place, field in enumerate(named) if _is_uuid(field)),
    )


def _get_constant(field: Field[Any, Any]) -> str | None:
    """What stands there in every new row; None for nothing, which the database puts there."""
    assert field.db_default is NOT_PROVIDED
    assert field.default is NOT_PROVIDED or not callable(field.default)
    value = None if isinstance(field, AutoField) else field.get_default()
    assert value is None or (isinstance(value, str) and "'" not in value)
    return value


def _is_uuid(field: Field[Any, Any]) -> bool:
    return getattr(field, "target_field", field).get_internal_type() == "UUIDField"


def _to_text(value: Any) -> str | None:
    """psycopg names another type as soon as a number grows, which makes another
    statement to prepare."""
    return None if value is None else str(value)


def _to_sqlite(values: Sequence[Any], uuids: Sequence[int]) -> list[Any]:
    given = list(values)
    for place in uuids:
        if given[place] is not None:
            given[place] = str(given[place]).replace("-", "")
    for place, value in enumerate(given):
        if isinstance(value, datetime):
            (given[place],) = sql.to_sqlite((value,))
    return given
