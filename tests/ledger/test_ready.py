"""Ready-made statements say and store exactly what the ORM would."""

from __future__ import annotations

from uuid import uuid4

import httpx
import pytest
from django.db import connection
from django.db.utils import IntegrityError
from django.utils import timezone

from accounts.errors import NotFound
from ledger import ready
from ledger.models import Run
from ledger.remembered import RememberedStates
from ledger.state import state_of
from reviews.models import Comment, Review
from reviews.selectors import review_for, review_for_command
from tests.builders import Person, pause_at_once, start_run


@pytest.fixture
def review(agent: httpx.Client) -> Review:
    return Review.objects.get(code=pause_at_once(agent, start_run(agent)))


def test_a_review_is_loaded_as_by_the_orm(review: Review, bob: Person) -> None:
    code, user_id = str(review.code), bob.user.pk

    lean = review_for_command(user_id=user_id, code=code)

    usual = review_for(user_id=user_id, code=code)
    for field in Review._meta.concrete_fields:
        name = field.attname
        assert getattr(lean, name) == getattr(usual, name), name
    assert lean.run.code == usual.run.code
    # What was not asked for is there all the same.
    assert lean.run.task == usual.run.task


def test_a_review_of_others_does_not_exist(review: Review) -> None:
    for user_id, code in ((0, str(review.code)), (0, str(uuid4())), (0, "nonsense")):
        with pytest.raises(NotFound):
            review_for_command(user_id=user_id, code=code)


def test_a_state_is_read_as_by_the_orm(review: Review) -> None:
    run = Run.objects.get(pk=review.run_id)

    assert RememberedStates().fresh(str(run.code)) == state_of(run)


def test_a_row_is_stored_as_by_the_orm(review: Review, bob: Person) -> None:
    at = timezone.now()
    given = {"review": review, "author": bob.user, "text": "é ' \\ %s ?", "at": at}
    ours = Comment(**given)

    ready.insert(ours)

    theirs = Comment.objects.create(**given)
    stored = Comment.objects.filter(pk__in=[ours.pk, theirs.pk]).order_by("pk")
    first, second = stored.values("review_id", "author_id", "text", "at")
    assert first == second
    assert ours.pk < theirs.pk


def test_its_errors_are_djangos(review: Review) -> None:
    twin = Review(
        **{f.attname: getattr(review, f.attname) for f in Review._meta.fields}
    )
    twin.pk = None

    with pytest.raises(IntegrityError):
        ready.insert(twin)


def test_postgresql_keeps_it_prepared(review: Review) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite keeps the statements of a connection anyway.")
    RememberedStates().fresh(str(review.run.code))

    with connection.cursor() as cursor:
        cursor.execute("SELECT statement FROM pg_prepared_statements")
        kept = [statement for (statement,) in cursor.fetchall()]

    assert any("FROM ledger_run WHERE code = $1" in text for text in kept)
