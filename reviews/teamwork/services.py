"""What people do so that others know: claim, release, assign, hand over, set aside, comment.

Each takes a review that was loaded for this person, and is one change request to the
ledger's writer, judged under the project's lock by the database's clock.
"""

from __future__ import annotations

from datetime import datetime

from accounts.auth import PersonPrincipal
from accounts.models import Role
from accounts.selectors import require_role
from common.errors import Forbidden
from reviews.models import Review
from reviews.rulings.perform import perform_on_review
from reviews.teamwork.assignment import LEAST_LOADED, AssignReview
from reviews.teamwork.claims import ClaimReview, ReleaseReview
from reviews.teamwork.comments import AddComment, find_thread, list_mentioned
from reviews.teamwork.snooze import ReturnReview, SnoozeReview


def submit_claim(
    *, review: Review, person: PersonPrincipal, take_over: str | None = None
) -> None:
    perform_on_review(ClaimReview(review=review, person=person, take_over=take_over))


def submit_release(*, review: Review, person: PersonPrincipal) -> None:
    _require_holder(review, person, "Only its claimer or a manager releases a review.")
    perform_on_review(ReleaseReview(review=review, person=person))


def submit_assignment(
    *,
    review: Review,
    person: PersonPrincipal,
    to: str,
    how: str = LEAST_LOADED,
    note: str = "",
) -> None:
    perform_on_review(
        AssignReview(review=review, person=person, to=to, how=how, note=note)
    )


def submit_handover(
    *,
    review: Review,
    person: PersonPrincipal,
    note: str,
    to: str = "",
    how: str = LEAST_LOADED,
) -> None:
    """Pass on what one has, with a note for the next; without `to`, to everybody."""
    _require_holder(
        review, person, "Only who has a review, or a manager, hands it over."
    )
    submit_assignment(review=review, person=person, to=to, how=how, note=note)


def submit_snooze(
    *, review: Review, person: PersonPrincipal, event: str, until: datetime | None
) -> None:
    perform_on_review(
        SnoozeReview(review=review, person=person, event=event, until=until)
    )


def submit_return(*, review: Review, person: PersonPrincipal) -> None:
    """Bring back what was set aside."""
    perform_on_review(ReturnReview(review=review, person=person))


def submit_comment(
    *, review: Review, person: PersonPrincipal, text: str, reply_to: str = ""
) -> None:
    """`reply_to` is the code of the comment that it answers."""
    perform_on_review(
        AddComment(
            review=review,
            person=person,
            text=text,
            reply_to=find_thread(review, reply_to) if reply_to else None,
            mentioned=list_mentioned(review, text, author_id=person.user_id),
        )
    )


def _require_holder(review: Review, person: PersonPrincipal, refusal: str) -> None:
    if review.assignee_id == person.user_id:
        return
    try:
        require_role(
            user_id=person.user_id, project_id=review.project_id, role=Role.MANAGER
        )
    except Forbidden:
        raise Forbidden(refusal) from None
