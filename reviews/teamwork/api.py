"""Operations for people's programs: who has a review."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from ninja import Router

from accounts.api_auth import get_person
from accounts.auth import PersonPrincipal
from common.responses import build_json_response
from reviews.models import ReviewState, SnoozedFor
from reviews.rulings.gate_choices import list_choices
from reviews.schemas.reviews import CommentIn, ReviewOut
from reviews.selectors import get_review_for_change, get_visible_review
from reviews.serializers import build_review_answer
from reviews.teamwork.schemas import AssignIn, HandoverIn, SnoozeIn
from reviews.teamwork.services import (
    submit_assignment,
    submit_claim,
    submit_comment,
    submit_handover,
    submit_release,
    submit_return,
    submit_snooze,
)

router = Router(tags=["Reviews"])


@router.post("/reviews/{review}/claim", response=ReviewOut)
def claim_review(request: HttpRequest, review: str) -> HttpResponse:
    """Tell the others that you look at it. Anybody may still rule. It ends by itself at
    `claimed_until`; claim again to put that off."""
    person = get_person(request)
    found = get_review_for_change(user_id=person.user_id, code=review)
    submit_claim(review=found, person=person)
    return _answer(review, person)


@router.post("/reviews/{review}/release", response=ReviewOut)
def release_review(request: HttpRequest, review: str) -> HttpResponse:
    """Give a claimed review back."""
    person = get_person(request)
    found = get_review_for_change(user_id=person.user_id, code=review)
    submit_release(review=found, person=person)
    return _answer(review, person)


@router.post("/reviews/{review}/assign", response=ReviewOut)
def assign_review(request: HttpRequest, review: str, body: AssignIn) -> HttpResponse:
    """Give it to a person, or to one of those who have a role."""
    person = get_person(request)
    found = get_review_for_change(user_id=person.user_id, code=review)
    submit_assignment(
        review=found, person=person, to=body.to, how=body.how, note=body.note
    )
    return _answer(review, person)


@router.post("/reviews/{review}/handover", response=ReviewOut)
def hand_over_review(
    request: HttpRequest, review: str, body: HandoverIn
) -> HttpResponse:
    """Pass on what you have, with a note for whoever takes it next."""
    person = get_person(request)
    found = get_review_for_change(user_id=person.user_id, code=review)
    submit_handover(
        review=found, person=person, note=body.note, to=body.to or "", how=body.how
    )
    return _answer(review, person)


@router.post("/reviews/{review}/snooze", response=ReviewOut)
def snooze_review(request: HttpRequest, review: str, body: SnoozeIn) -> HttpResponse:
    """Set it aside until a time or an event; null brings it back."""
    person = get_person(request)
    found = get_review_for_change(user_id=person.user_id, code=review)
    until = body.until
    if until is None:
        submit_return(review=found, person=person)
    elif isinstance(until, str):
        submit_snooze(review=found, person=person, event=until, until=None)
    else:
        event = SnoozedFor.TIME.value
        submit_snooze(review=found, person=person, event=event, until=until)
    return _answer(review, person)


@router.post("/reviews/{review}/comments", response={201: ReviewOut})
def comment_review(request: HttpRequest, review: str, body: CommentIn) -> HttpResponse:
    """Leave a note for the other reviewers, or answer one."""
    person = get_person(request)
    found = get_review_for_change(user_id=person.user_id, code=review)
    submit_comment(
        review=found, person=person, text=body.text, reply_to=body.reply_to or ""
    )
    return _answer(review, person, status=201)


def _answer(code: str, person: PersonPrincipal, *, status: int = 200) -> HttpResponse:
    review = get_visible_review(user_id=person.user_id, code=code)
    rulings = list_choices(review) if review.state == ReviewState.OPEN else ()
    return build_json_response(
        build_review_answer(review, rulings=rulings), status=status
    )
