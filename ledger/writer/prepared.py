"""Statements that PostgreSQL keeps prepared, called by the driver's own functions.

psycopg's cursor does the same with more care than these need, which takes as long as the
database takes for a small one (bench waking).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any, cast
from uuid import UUID
from weakref import WeakKeyDictionary

import psycopg
from django.db import connection
from psycopg.adapt import Transformer
from psycopg.errors import InvalidSqlStatementName, error_from_result
from psycopg.pq import ConnStatus, ExecStatus, TransactionStatus
from psycopg.pq.abc import PGresult
from psycopg.types.json import Jsonb

DONE = (ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK)

# By connection: the statements that it has prepared, and their names.
_prepared: WeakKeyDictionary[psycopg.Connection[Any], dict[str, bytes]] = (
    WeakKeyDictionary()
)


def execute_prepared(text: str, given: Sequence[Any]) -> list[tuple[Any, ...]]:
    """With numbered parameters, on this thread's connection; raises the driver's errors."""
    using: psycopg.Connection[Any] = connection.connection
    # Its declaration leaves out that there may be None.
    values = cast("list[bytes]", [encode(value) for value in given])
    _begin_if_needed(using)
    result = using.pgconn.exec_prepared(prepare(using, text), values)
    try:
        check(using, result)
    except InvalidSqlStatementName:
        # Whoever has dropped it, it is prepared again: nothing was done.
        forget_prepared(using)
        if using.pgconn.transaction_status != TransactionStatus.IDLE:
            raise  # the transaction is over
        result = using.pgconn.exec_prepared(prepare(using, text), values)
        check(using, result)
    if not result.nfields:
        return []
    reader = Transformer(using)
    reader.set_pgresult(result)
    return reader.load_rows(0, result.ntuples, tuple)


def prepare(using: psycopg.Connection[Any], text: str) -> bytes:
    """Its name in this connection."""
    if using not in _prepared:
        # It would make a plan each time, which takes longer than to store a step.
        check(using, using.pgconn.exec_(b"SET plan_cache_mode = force_generic_plan"))
        _prepared[using] = {}
    names = _prepared[using]
    if text not in names:
        name = f"checkrail_{len(names)}".encode()
        check(using, using.pgconn.prepare(name, text.encode()))
        names[text] = name
    return names[text]


def forget_prepared(using: psycopg.Connection[Any]) -> None:
    _prepared.pop(using, None)


def check(using: psycopg.Connection[Any], result: PGresult) -> None:
    if result.status in DONE:
        return
    if using.pgconn.status == ConnStatus.BAD:
        raise psycopg.OperationalError(result.get_error_message())
    raise error_from_result(result, using.info.encoding)


def encode(value: Any) -> bytes | None:
    """As PostgreSQL reads it from text: which type it has, the statement says."""
    match value:
        case None:
            return None
        case str():
            return value.encode()
        case bool():
            return b"t" if value else b"f"
        case int():
            return b"%d" % value
        case UUID() | datetime():
            return str(value).encode()
        case Jsonb():
            return write_json(value).encode()
        case _:
            raise TypeError(f"no parameter of a prepared statement: {value!r}")


def write_json(value: Jsonb) -> str:
    """The text that Django's field would store."""
    write = json.dumps if value.dumps is None else value.dumps
    text = write(value.obj)
    return text.decode() if isinstance(text, bytes) else text


def _begin_if_needed(using: psycopg.Connection[Any]) -> None:
    """As psycopg does before the first statement of a transaction."""
    if (
        not using.autocommit
        and using.pgconn.transaction_status == TransactionStatus.IDLE
    ):
        check(using, using.pgconn.exec_(b"BEGIN"))
