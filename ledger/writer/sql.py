"""Prepared statements: the same text every time, run by the database's own driver.

Only for what an agent waits for (bench waking): the ORM takes ten times as long to write
such a statement as a database takes to answer it, and PostgreSQL plans a join of six
tables for a millisecond unless it may keep the statement prepared.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from functools import cache, lru_cache
from types import NoneType
from typing import Any, TypeVar
from uuid import UUID

import psycopg
from django.db import connection
from django.db.models import NOT_PROVIDED, AutoField, Field, Model
from psycopg.types.json import Jsonb

from ledger.plan import Statement
from ledger.writer.prepared import execute_prepared, write_json
from ledger.writer.sent import wait_for_sent

M = TypeVar("M", bound=Model)
Row = tuple[Any, ...]


def execute(text: str, given: Sequence[Any]) -> list[Row]:
    """The rows that come back, as the driver has them."""
    wait_for_sent()
    connection.ensure_connection()
    # The driver's errors are not Django's by themselves.
    with connection.wrap_database_errors:
        if connection.vendor == "postgresql":
            try:
                return execute_prepared(write_raw_parameters(text), given)
            except psycopg.errors.FeatureNotSupported:
                # A column is of another type than when it was prepared: the session
                # keeps that for ever, and must not go back to the pool.
                connection.connection.close()
                raise
        asked = text.replace("%s", "?")
        return list(connection.connection.execute(asked, to_sqlite(given)))


@lru_cache(maxsize=1_000)
def write_raw_parameters(text: str) -> str:
    """With $1, $2 … as PostgreSQL wants them: psycopg makes them anew for each call where
    a statement is as long as those that store a batch."""
    parts = [part.replace("%%", "%") for part in text.split("%s")]
    numbered = (f"${number}{part}" for number, part in enumerate(parts[1:], 1))
    return "".join([parts[0], *numbered])


def insert(row: Model) -> None:
    """The row gets its id, as from `save`."""
    ((key,),) = execute(*build_insert(row))
    _mark_stored(row, key)


def insert_all(rows: Sequence[Model]) -> None:
    """Rows of one table, by one statement; they get their ids.

    On PostgreSQL it is the same statement for any number of them. Django writes one for
    each number, which takes longer than judging the calls that the rows are of.
    """
    if connection.vendor != "postgresql":
        type(rows[0])._default_manager.bulk_create(rows)
        return
    text, fields = _build_insert_all(type(rows[0]))
    columns = [[_prepare(field, row) for row in rows] for field in fields]
    keys = execute(text, [format_array(column) for column in columns])
    for row, (key,) in zip(rows, keys, strict=True):
        _mark_stored(row, key)


def build_insert(row: Model) -> Statement:
    """For whoever does not need its id."""
    text, fields = _build_insert(type(row))
    values = [
        field.get_db_prep_save(field.pre_save(row, True), connection)
        for field in fields
    ]
    return Statement(text, values)


def _mark_stored(row: Model, key: int) -> None:
    row.pk = key
    row._state.adding = False
    row._state.db = connection.alias


def _prepare(field: Field[Any, Any], row: Model) -> Any:
    """As Django stores it; JSON as its text."""
    value = field.get_db_prep_save(field.pre_save(row, True), connection)
    return write_json(value) if isinstance(value, Jsonb) else value


@cache
def _build_insert(model: type[Model]) -> tuple[str, tuple[Field[Any, Any], ...]]:
    fields = _list_fields(model)
    return _write_insert(model, f"VALUES ({', '.join(['%s'] * len(fields))})"), fields


@cache
def _build_insert_all(model: type[Model]) -> tuple[str, tuple[Field[Any, Any], ...]]:
    fields = _list_fields(model)
    # Without its length: a cast to varchar(80) would cut what is longer.
    kinds = [(field.db_type(connection) or "").partition("(")[0] for field in fields]
    arrays = ", ".join(f"%s::{kind}[]" for kind in kinds)
    source = f"SELECT * FROM unnest({arrays})"  # noqa: S608
    return _write_insert(model, source), fields


def _list_fields(model: type[Model]) -> tuple[Field[Any, Any], ...]:
    fields = model._meta.concrete_fields
    return tuple(field for field in fields if not isinstance(field, AutoField))


def _write_insert(model: type[Model], source: str) -> str:
    meta, fields = model._meta, _list_fields(model)
    assert isinstance(meta.pk, AutoField), "its id would not be read as it should"
    assert all(field.db_default is NOT_PROVIDED for field in fields)
    names = ", ".join(f'"{field.column}"' for field in fields)
    return (
        f'INSERT INTO "{meta.db_table}" ({names}) {source} RETURNING "{meta.pk.column}"'
    )


def build_instance(model: type[M], names: Sequence[str], values: Sequence[Any]) -> M:
    """A row as the ORM would load it; what is not named is read once it is asked for."""
    kinds = _list_field_types(model)
    return model.from_db(
        connection.alias,
        names,
        [
            _PARSERS[kinds[name]](value)
            if value is not None and kinds[name] in _PARSERS
            else value
            for name, value in zip(names, values, strict=True)
        ],
    )


@cache
def _list_field_types(model: type[Model]) -> dict[str, str]:
    return {
        field.attname: field.get_internal_type()
        for field in model._meta.concrete_fields
    }


def format_array(values: Sequence[Any]) -> str:
    """PostgreSQL's array literal.

    psycopg writes the same, but escapes each text by a regular expression, which costs
    more than judging the step, and names another type as soon as a number grows, which
    makes another statement to prepare. A column mostly holds one kind of values, of
    which nothing has to be escaped: those are joined as they are, and one that all have
    is written once (bench steps).
    """
    count = len(values)
    if count > 1 and values.count(values[0]) == count:
        item = _format_item(values[0])
        return "{" + f"{item}," * (count - 1) + item + "}"
    kinds = set(map(type, values))
    if kinds == {int}:
        return "{" + ",".join(map(str, values)) + "}"
    if kinds == {str}:
        quoted = '{"' + '","'.join(values) + '"}'
        if quoted.count('"') == 2 * len(values) and "\\" not in quoted:
            return quoted
    if kinds == {datetime}:
        return '{"' + '","'.join(map(str, values)) + '"}'
    if kinds <= {int, NoneType}:
        texts = ["NULL" if value is None else str(value) for value in values]
        return "{" + ",".join(texts) + "}"
    return "{" + ",".join(map(_format_item, values)) + "}"


def format_ids(ids: Iterable[int]) -> str:
    """For `ANY` of PostgreSQL, or SQLite's `json_each`."""
    text = ",".join(map(str, ids))
    return f"{{{text}}}" if connection.vendor == "postgresql" else f"[{text}]"


def _format_item(value: Any) -> str:
    if value is None:
        return "NULL"
    return '"' + str(value).replace("\\", "\\\\").replace('"', '\\"') + '"'


# What SQLite takes as it is.
_PLAIN = frozenset({int, str, NoneType, bool, float, bytes})


def to_sqlite(values: Iterable[Any]) -> list[Any]:
    """As Django writes them into SQLite: times in UTC, without saying so."""
    return [value if type(value) in _PLAIN else _to_sqlite(value) for value in values]


def _to_sqlite(value: Any) -> Any:
    match value:
        case datetime():
            return _write_time(value)
        case UUID():
            return value.hex
        case _:
            return value


@lru_cache(maxsize=4_096)  # a batch has one time, and a run began at one
def _write_time(value: datetime) -> str:
    return str(value.astimezone(UTC).replace(tzinfo=None))


# No JSON text holds it: control characters are escaped there.
SEPARATOR = "\x1f"


def join_json(texts: Sequence[str]) -> str:
    """Texts of JSON, or of base64, for `SPLIT_JSON`: nothing in them has to be escaped,
    which takes longer than to write them (bench steps)."""
    if any(SEPARATOR in text for text in texts):
        raise ValueError("a control character in what should be JSON")
    return SEPARATOR.join(texts)


SPLIT_JSON = "string_to_array(%s::text, chr(31))"


def parse_uuid(value: UUID | str) -> UUID:
    """SQLite keeps them as text."""
    return value if isinstance(value, UUID) else UUID(value)


def parse_time(value: datetime) -> datetime:
    """SQLite keeps them in UTC, without saying so."""
    return value if value.tzinfo else value.replace(tzinfo=UTC)


def _parse_json(value: Any) -> Any:
    """SQLite has it as text."""
    return json.loads(value) if isinstance(value, str) else value


_PARSERS: dict[str, Callable[[Any], Any]] = {
    "JSONField": _parse_json,
    "UUIDField": parse_uuid,
    "DateTimeField": parse_time,
}
