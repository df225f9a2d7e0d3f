"""Nobody lets run what they have not been shown: pages are served one after another."""

from __future__ import annotations

import json

from common.errors import PreconditionRequired
from reviews.models import Kind, Reading, Review
from reviews.rulings.call_pages import sheets_of


def pages_of(review: Review) -> int:
    if review.kind != Kind.CONFIRMATION:
        return 1
    return len(sheets_of(json.loads(review.content)))


def pages_served(review: Review, *, user_id: int) -> int:
    """The first one comes with the review itself."""
    found = Reading.objects.filter(review=review, person_id=user_id)
    return found.values_list("pages", flat=True).first() or 1


def page_serve(review: Review, *, user_id: int, page: int) -> None:
    """Note that a page is shown to this person. Only the next one counts."""
    if not 1 <= page <= pages_of(review):
        raise PreconditionRequired("There is no such page.")
    Reading.objects.get_or_create(
        review=review, person_id=user_id, defaults={"pages": 1}
    )
    mine = Reading.objects.filter(review=review, person_id=user_id)
    mine.filter(pages=page - 1).update(pages=page)
    served = pages_served(review, user_id=user_id)
    if served < page:
        raise PreconditionRequired(f"Page {served + 1} comes first.")


def refuse_unread(review: Review, *, user_id: int) -> None:
    """Before a call is let run; denying one needs no reading."""
    pages = pages_of(review)
    if pages == 1:
        return
    served = pages_served(review, user_id=user_id)
    if served < pages:
        raise PreconditionRequired(unread(pages=pages, served=served))


def unread(*, pages: int, served: int) -> str:
    were = "was" if served == 1 else "were"
    return f"Read all {pages} pages first: {served} {were} shown to you."
