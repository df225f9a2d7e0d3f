"""Perform what a person does to a review; one that is closed says how it ended."""

from __future__ import annotations

from accounts.auth import PersonPrincipal
from common.errors import DomainError
from ledger.chain import format_timestamp
from ledger.writer import get_writer
from reviews.errors import AlreadyRuled, ReviewExpired, ReviewNotOpen
from reviews.models import ReviewState
from reviews.rulings.rule import ReviewChangeRequest
from reviews.selectors import get_visible_review
from reviews.serializers import build_ruling_answer


def perform_on_review(change_request: ReviewChangeRequest) -> None:
    """A closed review says how it ended."""
    try:
        get_writer().perform_now(change_request)
    except ReviewNotOpen:
        raise build_closed_error(
            change_request.person, change_request.review_code
        ) from None


def build_closed_error(person: PersonPrincipal, review_code: str) -> DomainError:
    review = get_visible_review(user_id=person.user_id, code=review_code)
    if review.state == ReviewState.EXPIRED:
        return ReviewExpired(
            f"Nobody ruled before {format_timestamp(review.due_at)}: "
            f"the outcome was {review.on_expiry}."
        )
    ruling = build_ruling_answer(review)
    if ruling is None:
        return AlreadyRuled(
            f"The review is {review.state}: it needs no ruling any more.",
            state=review.state,
            ruling=None,
        )
    return AlreadyRuled(
        f"{ruling['by']} ruled {ruling['action']} at {ruling['at']}.",
        state=review.state,
        ruling=ruling,
    )
