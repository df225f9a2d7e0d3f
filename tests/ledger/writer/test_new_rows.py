"""Rows that are given as values are stored exactly as the ORM would store them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import httpx
import pytest
from django.db import connection
from django.db.utils import IntegrityError
from django.utils import timezone

from common.ids import make_code
from ledger.models import Run
from ledger.plan import NewRow, Table
from ledger.writer import sql
from ledger.writer.new_rows import build_insert, insert_rows
from reviews.models import Grant, ToolCall
from tests.support.builders import start_run

NAMES = (
    *("code", "project_id", "run_id", "review_id", "kind", "tool", "key", "digest"),
    *("decision", "seq", "judged_at", "facts"),
)
CALLS = Table(ToolCall, *NAMES)
ODD = 'a,"b" \\ %s $1 {} é NULL \''


def insert_each(rows: Sequence[NewRow]) -> None:
    for row in rows:
        sql.execute(*build_insert(row))


def read(model: type[ToolCall | Grant], codes: Sequence[str]) -> list[tuple[Any, ...]]:
    """As the database has them, not as the ORM reads them."""
    names = [
        f'"{field.column}"'
        for field in model._meta.concrete_fields
        if field.attname not in {"id", "code"}
    ]
    wanted = model.objects.filter(code__in=codes).order_by("pk")
    ids = list(wanted.values_list("pk", flat=True))
    places = ", ".join(["%s"] * len(ids))
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT {', '.join(names)}, length(CAST(code AS text))"
            f" FROM {model._meta.db_table} WHERE id IN ({places}) ORDER BY id",
            ids,
        )
        return [tuple(row) for row in cursor.fetchall()]


@pytest.mark.parametrize("insert", [insert_rows, insert_each])
@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("facts", [None, ODD])
def test_rows_are_stored_as_by_the_orm(
    agent: httpx.Client,
    insert: Callable[[Sequence[NewRow]], None],
    count: int,
    facts: str | None,
) -> None:
    run = Run.objects.get(code=start_run(agent))
    given = {
        "project_id": run.project_id,
        "run_id": run.pk,
        "review_id": None,
        "kind": "tool",
        "tool": ODD,
        "key": "",
        "digest": "sha256:0",
        "decision": "allow",
        "seq": 2,
        "judged_at": timezone.now(),
        "facts": facts,
    }
    codes = [make_code() for _ in range(count)]

    insert([NewRow(CALLS, (code, *given.values())) for code in codes])

    theirs = ToolCall.objects.create(**given)
    assert read(ToolCall, codes) == read(ToolCall, [str(theirs.code)]) * count
    stored = ToolCall.objects.filter(code__in=codes).order_by("pk")
    assert [str(row.code) for row in stored] == codes


def test_its_errors_are_djangos(agent: httpx.Client) -> None:
    run = Run.objects.get(code=start_run(agent))
    values = (run.project_id, run.pk, None, "tool", "t", "", "d", "allow", 2)
    row = NewRow(CALLS, (make_code(), *values, timezone.now(), None))

    with pytest.raises(IntegrityError):
        insert_rows([row, row])
