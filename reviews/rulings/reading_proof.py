"""Nobody lets run what they have not been shown: pages are served one after another, and
since when a person has had a review on their screen is kept."""

from __future__ import annotations

import json
from datetime import datetime
from uuid import UUID

from django.db.models.functions import Now

from common.errors import PreconditionRequired
from reviews.models import Kind, Reading, Review, ReviewState
from reviews.rulings.call_pages import build_call_pages


def store_shown(*, project_id: int, code: UUID, user_id: int) -> None:
    """A screen of this person has the open review on it; the first time counts."""
    reviews = Review.objects.filter(
        project_id=project_id, code=code, state=ReviewState.OPEN
    )
    review_id = reviews.values_list("pk", flat=True).first()
    if review_id is None:
        return
    _, is_new = Reading.objects.get_or_create(
        review_id=review_id,
        person_id=user_id,
        defaults={"pages": 1, "shown_at": Now()},
    )
    if not is_new:
        mine = Reading.objects.filter(review_id=review_id, person_id=user_id)
        mine.filter(shown_at=None).update(shown_at=Now())


def find_shown_at(review: Review, *, user_id: int) -> datetime | None:
    found = Reading.objects.filter(review=review, person_id=user_id)
    return found.values_list("shown_at", flat=True).first()


def count_pages(review: Review) -> int:
    if review.kind != Kind.CONFIRMATION:
        return 1
    return len(build_call_pages(json.loads(review.content)))


def count_served_pages(review: Review, *, user_id: int) -> int:
    """The first one comes with the review itself."""
    found = Reading.objects.filter(review=review, person_id=user_id)
    return found.values_list("pages", flat=True).first() or 1


def store_served_page(review: Review, *, user_id: int, page: int) -> None:
    """Note that a page is shown to this person. Only the next one counts."""
    if not 1 <= page <= count_pages(review):
        raise PreconditionRequired("There is no such page.")
    Reading.objects.get_or_create(
        review=review, person_id=user_id, defaults={"pages": 1}
    )
    mine = Reading.objects.filter(review=review, person_id=user_id)
    mine.filter(pages=page - 1).update(pages=page)
    served = count_served_pages(review, user_id=user_id)
    if served < page:
        raise PreconditionRequired(f"Page {served + 1} comes first.")


def refuse_unread(review: Review, *, user_id: int) -> None:
    """Before a call is let run; denying one needs no reading."""
    pages = count_pages(review)
    if pages == 1:
        return
    served = count_served_pages(review, user_id=user_id)
    if served < pages:
        raise PreconditionRequired(describe_unread(pages=pages, served=served))


def describe_unread(*, pages: int, served: int) -> str:
    were = "was" if served == 1 else "were"
    return f"Read all {pages} pages first: {served} {were} shown to you."
