"""Operations for people's programs: reviews, and stopping or reopening runs."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from ninja import Query, Router

from accounts.api_auth import (
    get_agent_session,
    get_person,
)
from accounts.auth import PersonPrincipal
from common.paging import refuse_unknown_parameters
from common.responses import build_json_response, send_reply
from ledger.run_list.scope import get_scope
from ledger.schemas import RunOut
from ledger.serializers import serialize_run
from reviews.allowances.selectors import find_allowance
from reviews.models import Review, ReviewState
from reviews.queue.review_list import build_review_filter, list_review_page
from reviews.rulings.four_eyes import (
    build_approvals_answer,
    list_open_rulings,
    load_approvals,
)
from reviews.rulings.gate_choices import list_choices
from reviews.schemas.reviews import (
    AbortIn,
    ReopenIn,
    ReviewDetail,
    ReviewFilters,
    ReviewOut,
    ReviewPage,
    RulingIn,
)
from reviews.selectors import (
    REVIEW_RELATED,
    get_visible_review,
    get_visible_run,
    list_review_history,
)
from reviews.serializers import build_review_answer
from reviews.services import (
    submit_abort,
    submit_acknowledgement,
    submit_reopen,
    submit_ruling,
)

router = Router(tags=["Reviews"])


@router.get("/reviews", response=ReviewPage)
def list_reviews(request: HttpRequest, filters: Query[ReviewFilters]) -> HttpResponse:
    """Newest first, or as `sort` says; `next_cursor` leads on, `total` counts all that the
    filters let in."""
    person = get_person(request)
    refuse_unknown_parameters(request.GET, ReviewFilters.model_fields)
    page = list_review_page(
        get_scope(person),
        build_review_filter(filters),
        sort=filters.sort,
        cursor=filters.cursor,
        limit=filters.limit,
        related=REVIEW_RELATED,
    )
    items = [
        build_review_answer(row, rulings=_list_rulings(row)) for row in page.reviews
    ]
    return build_json_response(
        {"items": items, "next_cursor": page.next_cursor, "total": page.total}
    )


@router.get("/reviews/{review}", response=ReviewDetail)
def get_review(request: HttpRequest, review: str) -> HttpResponse:
    """All that is needed to rule: content, digest, version, and what was done."""
    person = get_person(request)
    found = get_visible_review(user_id=person.user_id, code=review)
    approvals = load_approvals(found)
    rulings = list_open_rulings(found, approvals, by=person.actor)
    allowance = find_allowance(found, at=timezone.now())
    return build_json_response(
        {
            **build_review_answer(found, rulings=rulings),
            **build_approvals_answer(approvals),
            "allowance": None if allowance is None else allowance.to_answer(),
            "history": list_review_history(found),
        }
    )


@router.post(
    "/reviews/{review}/ruling",
    response={200: ReviewOut, 202: ReviewOut},
)
async def rule_review(
    request: HttpRequest, review: str, body: RulingIn
) -> HttpResponse:
    """Rule on what you have read: its version and digest must still be the same. 202 for an
    approval that is not the last one needed: the review stays open."""
    person = get_person(request)
    session = get_agent_session(request)
    return send_reply(
        await submit_ruling(
            review_code=review, person=person, body=body, session=session
        )
    )


@router.post(
    "/runs/{run}/warnings/{warning}/acknowledge",
    response=RunOut,
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


def _list_rulings(review: Review) -> tuple[str, ...]:
    return list_choices(review) if review.state == ReviewState.OPEN else ()
