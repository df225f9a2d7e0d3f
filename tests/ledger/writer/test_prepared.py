"""A prepared statement takes and gives what the ORM would, and leaves transactions whole."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import psycopg
import pytest
from django.db import connection, transaction
from django.db.utils import (
    DataError,
    IntegrityError,
    OperationalError,
    ProgrammingError,
)
from psycopg.types.json import Jsonb

from accounts.models import Project
from ledger.models import ProjectHead
from ledger.waiting.pg_listen import _build_connection_string
from ledger.writer import sql
from tests.support.builders import make_project

BUMP = "UPDATE ledger_projecthead SET position = position + 1 WHERE project_id = %s::bigint"


@pytest.fixture(autouse=True)
def _only_there(database: None) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has no such statements.")


@pytest.fixture
def project(database: None) -> Project:
    project = make_project()
    ProjectHead.objects.create(project=project, position=0)
    return project


def get_position(project: Project) -> int:
    return ProjectHead.objects.get(project=project).position


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("text", "é ' \\ %s $1 \t\n"),
        ("text", ""),
        ("text", None),
        ("bigint", -(2**63)),
        ("smallint", 7),
        ("boolean", True),
        ("boolean", False),
        ("uuid", UUID("01a1ee95-9f57-7980-a259-41ff90bcab33")),
        ("timestamptz", datetime(2026, 11, 18, 12, 0, 0, 123456, UTC)),
        ("timestamptz", datetime(2026, 11, 18, tzinfo=UTC)),
    ],
)
def test_a_value_comes_back_as_it_was_given(kind: str, value: Any) -> None:
    assert sql.execute(f"SELECT %s::{kind}", [value]) == [(value,)]


def test_json_is_written_as_django_says() -> None:
    given = {"é": ['" \\', 1, None]}

    ((written,),) = sql.execute("SELECT %s::jsonb", [Jsonb(given)])

    assert json.loads(written) == given


def test_what_has_no_text_is_refused_before_anything_is_sent(project: Project) -> None:
    with pytest.raises(TypeError, match="prepared statement"):
        sql.execute(BUMP, [object()])

    assert get_position(project) == 0


def test_it_belongs_to_the_transaction_that_is_open(project: Project) -> None:
    with transaction.atomic():
        sql.execute(BUMP, [project.pk])
        assert get_position(project) == 1
        transaction.set_rollback(True)
    assert get_position(project) == 0

    with transaction.atomic():
        sql.execute(BUMP, [project.pk])
    assert get_position(project) == 1


def test_what_the_database_refuses_is_an_error_of_django(project: Project) -> None:
    again = "INSERT INTO ledger_projecthead (project_id, position) VALUES (%s, 0)"
    with pytest.raises(IntegrityError):
        sql.execute(again, [project.pk])
    with pytest.raises(DataError):
        sql.execute("SELECT %s::bigint", ["no number"])

    sql.execute(BUMP, [project.pk])
    assert get_position(project) == 1


def test_one_that_was_dropped_is_prepared_again(project: Project) -> None:
    sql.execute(BUMP, [project.pk])
    with connection.cursor() as cursor:
        cursor.execute("DEALLOCATE ALL")

    sql.execute(BUMP, [project.pk])

    assert get_position(project) == 2


def test_one_that_was_dropped_ends_a_transaction_and_the_next_one_has_it(
    project: Project,
) -> None:
    sql.execute(BUMP, [project.pk])
    with connection.cursor() as cursor:
        cursor.execute("DEALLOCATE ALL")

    with pytest.raises(ProgrammingError), transaction.atomic():
        sql.execute(BUMP, [project.pk])
    with transaction.atomic():
        sql.execute(BUMP, [project.pk])

    assert get_position(project) == 2


def test_a_line_that_was_cut_is_told_and_the_next_is_new(project: Project) -> None:
    sql.execute(BUMP, [project.pk])
    with psycopg.connect(_build_connection_string(), autocommit=True) as other:
        pid = connection.connection.info.backend_pid
        other.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])

    with pytest.raises(OperationalError):
        sql.execute(BUMP, [project.pk])
    connection.close()
    sql.execute(BUMP, [project.pk])

    assert get_position(project) == 2
