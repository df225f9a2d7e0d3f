"""Operations for people's programs: reviews, and stopping or reopening runs."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from ninja import Query, Router

from accounts.api_auth import (
    PERSON,
    PERSON_ALSO_IN_SESSIONS,
    get_agent_session,
    get_person,
)
from accounts.auth import PersonPrincipal
from common.ids import parse_code
from common.paging import list_page_after, refuse_unknown_parameters
from common.responses import build_json_response, send_reply
from ledger.schemas import RunOut
from ledger.serializers import serialize_run
from reviews.models import Review, ReviewState
from reviews.rulings.gate_choices import list_choices
from reviews.schemas.reviews import (
    AbortIn,
    CommentIn,
    ReopenIn,
    ReviewDetail,
    ReviewFilters,
    ReviewOut,
    ReviewPage,
    RulingIn,
)
from reviews.selectors import (
    REVIEW_RELATED,
    get_review_for_change,
    get_visible_review,
    get_visible_run,
    list_review_history,
)
from reviews.serializers import build_review_answer
from reviews.services import (
    submit_abort,
    submit_acknowledgement,
    submit_claim,
    submit_comment,
    submit_release,
    submit_reopen,
    submit_ruling,
)

router = Router(auth=PERSON, tags=["Reviews"])


@router.get("/reviews", response=ReviewPage)
def list_reviews(request: HttpRequest, filters: Query[ReviewFilters]) -> HttpResponse:
    """Newest first; `next_cursor` leads on, `total` counts all that the filters let in."""
    person = get_person(request)
    refuse_unknown_parameters(request.GET, ReviewFilters.model_fields)
    reviews = visible = Review.objects.select_related(*REVIEW_RELATED).filter(
        project__membership__user_id=person.user_id
    )
    if filters.state is not None:
        reviews = reviews.filter(state=filters.state)
    if filters.kind is not None:
        reviews = reviews.filter(kind=filters.kind)
    if filters.run is not None:
        code = parse_code(filters.run)
        reviews = reviews.filter(run__code=code) if code else reviews.none()
    if filters.assignee is not None:
        reviews = reviews.filter(assignee__username=filters.assignee)
    rows, next_cursor = list_page_after(
        reviews, among=visible, cursor=filters.cursor, limit=filters.limit
    )
    items = [build_review_answer(row, rulings=_list_rulings(row)) for row in rows]
    return build_json_response(
        {"items": items, "next_cursor": next_cursor, "total": reviews.count()}
    )


@router.get("/reviews/{review}", response=ReviewDetail)
def get_review(request: HttpRequest, review: str) -> HttpResponse:
    """All that is needed to rule: content, digest, version, and what was done."""
    found = get_visible_review(user_id=get_person(request).user_id, code=review)
    return build_json_response(
        {
            **build_review_answer(found, rulings=_list_rulings(found)),
            "history": list_review_history(found),
        }
    )


@router.post(
    "/reviews/{review}/ruling", response=ReviewOut, auth=PERSON_ALSO_IN_SESSIONS
)
async def rule_review(
    request: HttpRequest, review: str, body: RulingIn
) -> HttpResponse:
    """Rule on what you have read: its version and digest must still be the same."""
    person = get_person(request)
    session = get_agent_session(request)
    return send_reply(
        await submit_ruling(
            review_code=review, person=person, body=body, session=session
        )
    )


@router.post("/reviews/{review}/claim", response=ReviewOut)
def claim_review(request: HttpRequest, review: str) -> HttpResponse:
    """Tell the others that you look at it. Anybody may still rule."""
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


@router.post("/reviews/{review}/comments", response={201: ReviewOut})
def comment_review(request: HttpRequest, review: str, body: CommentIn) -> HttpResponse:
    """Leave a note for the other reviewers."""
    person = get_person(request)
    found = get_review_for_change(user_id=person.user_id, code=review)
    submit_comment(review=found, person=person, text=body.text)
    return _answer(review, person, status=201)


@router.post(
    "/runs/{run}/warnings/{warning}/acknowledge",
    response=RunOut,
    auth=PERSON_ALSO_IN_SESSIONS,
)
def acknowledge_warning(request: HttpRequest, run: str, warning: str) -> HttpResponse:
    """Tell that you have seen what an advisory gate said about this run."""
    person = get_person(request)
    submit_acknowledgement(
        run_code=run,
        warning_code=warning,
        person=person,
        session=get_agent_session(request),
    )
    return _run(run, person)


@router.post(
    "/runs/{run}/abort",
    response=RunOut,
    tags=["Runs"],
    auth=PERSON_ALSO_IN_SESSIONS,
)
def abort_run(request: HttpRequest, run: str, body: AbortIn) -> HttpResponse:
    """End a run for good; whatever waits for a person is superseded. With `children` it
    reaches every open run below it, also where the run itself is over already."""
    person = get_person(request)
    submit_abort(
        run_code=run, person=person, reason=body.reason, children=body.children
    )
    return _run(run, person)


@router.post(
    "/runs/{run}/reopen",
    response=RunOut,
    tags=["Runs"],
    auth=PERSON_ALSO_IN_SESSIONS,
)
def reopen_run(request: HttpRequest, run: str, body: ReopenIn) -> HttpResponse:
    """Let a stopped run go on, with a new budget if one is given (manager)."""
    person = get_person(request)
    submit_reopen(
        run_code=run,
        person=person,
        budget=body.budget,
        reason=body.reason,
        session=get_agent_session(request),
    )
    return _run(run, person)


def _run(code: str, person: PersonPrincipal) -> HttpResponse:
    return build_json_response(
        serialize_run(get_visible_run(user_id=person.user_id, code=code))
    )


def _answer(code: str, person: PersonPrincipal, *, status: int = 200) -> HttpResponse:
    review = get_visible_review(user_id=person.user_id, code=code)
    return build_json_response(
        build_review_answer(review, rulings=_list_rulings(review)), status=status
    )


def _list_rulings(review: Review) -> tuple[str, ...]:
    return list_choices(review) if review.state == ReviewState.OPEN else ()
