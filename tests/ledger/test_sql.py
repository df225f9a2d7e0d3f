"""Ready-made statements say and store exactly what the ORM would."""

from __future__ import annotations

from uuid import uuid4

import httpx
import psycopg
import pytest
from django.db import connection
from django.db.utils import DataError, IntegrityError, NotSupportedError
from django.utils import timezone

from accounts.models import Role
from common.errors import NotFound
from ledger.models import Run
from ledger.state import build_state
from ledger.waiting.pg_listen import _build_connection_string
from ledger.writer import sql
from ledger.writer.state_cache import StateCache
from reviews.models import Comment, Review
from reviews.selectors import get_review_for_change, get_visible_review
from tests.support.builders import (
    Person,
    make_person,
    make_project,
    pause_at_once,
    start_run,
    unique,
)


@pytest.fixture
def review(agent: httpx.Client) -> Review:
    return Review.objects.get(code=pause_at_once(agent, start_run(agent)))


def test_a_review_is_loaded_as_by_the_orm(review: Review, bob: Person) -> None:
    code, user_id = str(review.code), bob.user.pk

    lean = get_review_for_change(user_id=user_id, code=code)

    usual = get_visible_review(user_id=user_id, code=code)
    for field in Review._meta.concrete_fields:
        name = field.attname
        assert getattr(lean, name) == getattr(usual, name), name
    assert lean.run.code == usual.run.code
    # What was not asked for is there all the same.
    assert lean.run.task == usual.run.task


def test_a_review_of_others_does_not_exist(review: Review, bob: Person) -> None:
    stranger = make_person("eve", role=Role.MANAGER, project=make_project())
    theirs = (stranger.user.pk, str(review.code))
    for user_id, code in (
        theirs,
        (bob.user.pk, str(uuid4())),
        (bob.user.pk, "no code"),
    ):
        with pytest.raises(NotFound):
            get_review_for_change(user_id=user_id, code=code)


def test_a_state_is_read_as_by_the_orm(review: Review) -> None:
    run = Run.objects.get(pk=review.run_id)

    assert StateCache().read(str(run.code)) == build_state(run)


def test_a_row_is_stored_as_by_the_orm(review: Review, bob: Person) -> None:
    at = timezone.now()
    given = {"review": review, "author": bob.user, "text": "é ' \\ %s ?", "at": at}
    ours = Comment(**given)

    sql.insert(ours)

    theirs = Comment.objects.create(**given)
    stored = Comment.objects.filter(pk__in=[ours.pk, theirs.pk]).order_by("pk")
    first, second = stored.values("review_id", "author_id", "text", "at")
    assert first == second
    assert ours.pk < theirs.pk


def test_codes_and_what_is_not_there_are_stored_as_by_the_orm(review: Review) -> None:
    given = {
        field.attname: getattr(review, field.attname)
        for field in Review._meta.concrete_fields
        if field.attname not in {"id", "code"}
    }
    ours = Review(**given)

    sql.insert(ours)

    theirs = Review.objects.create(**given)
    names = ", ".join(given)
    with connection.cursor() as cursor:
        # As the database has them, not as the ORM reads them.
        cursor.execute(
            f"SELECT {names}, length(CAST(code AS text)) FROM reviews_review"
            " WHERE id IN (%s, %s)",
            [ours.pk, theirs.pk],
        )
        first, second = cursor.fetchall()
    assert first == second
    assert Review.objects.get(code=ours.code).pk == ours.pk


def test_rows_are_stored_as_by_the_orm_however_many(review: Review) -> None:
    run = Run.objects.get(pk=review.run_id)
    names = [field.attname for field in Run._meta.concrete_fields]
    given = {name: getattr(run, name) for name in names if name not in {"id", "code"}}
    given |= {"labels": {"é": '" \\ {},'}, "status_reason": 'a,"b" \\ %s $1 {}'}
    ours = [Run(**given) for _ in range(3)]

    sql.insert_all(ours)

    theirs = Run.objects.create(**given)
    assert [each.pk for each in ours] == sorted(each.pk for each in ours)
    for each in ours:
        assert Run.objects.get(code=each.code).pk == each.pk
        stored = Run.objects.filter(pk=each.pk).values(*given)
        assert [*stored] == [*Run.objects.filter(pk=theirs.pk).values(*given)]


def test_a_text_that_is_too_long_is_refused_and_not_cut(review: Review) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite knows no lengths.")
    given = {
        field.attname: getattr(review, field.attname)
        for field in Review._meta.concrete_fields
        if field.attname not in {"id", "code", "kind"}
    }
    with pytest.raises(DataError):
        sql.insert_all([Review(kind="x" * 100, **given) for _ in range(2)])


def test_its_errors_are_djangos(review: Review) -> None:
    twin = Review(
        **{f.attname: getattr(review, f.attname) for f in Review._meta.fields}
    )
    twin.pk = None

    with pytest.raises(IntegrityError):
        sql.insert(twin)


def test_a_session_whose_plan_is_of_yesterday_is_not_used_again(review: Review) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite prepares anew when a table has changed.")
    name = unique("changing").replace("-", "_")
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE TABLE {name} AS SELECT 1 AS a")
    asked = f"SELECT a FROM {name}"
    assert sql.execute(asked, []) == [(1,)]
    with psycopg.connect(_build_connection_string(), autocommit=True) as other:
        other.execute(f"ALTER TABLE {name} ALTER a TYPE text")

    with pytest.raises(NotSupportedError):
        sql.execute(asked, [])
    connection.close()

    assert sql.execute(asked, []) == [("1",)]


def test_postgresql_keeps_it_prepared(review: Review) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite keeps the statements of a connection anyway.")
    StateCache().read(str(review.run.code))

    with connection.cursor() as cursor:
        cursor.execute("SELECT statement FROM pg_prepared_statements")
        kept = [statement for (statement,) in cursor.fetchall()]

    assert any("FROM ledger_run WHERE code = $1" in text for text in kept)
