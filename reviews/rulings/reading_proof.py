"""Nobody lets run what they have not been shown: pages are served one after another."""

from __future__ import annotations

import json

from common.errors import PreconditionRequired
from reviews.models import Kind, Reading, Review
from reviews.rulings.call_pages import build_call_pages


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
