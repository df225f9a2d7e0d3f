"""A selection of reviews: first what a decision would do, then the decision itself."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST

from accounts.auth import PersonPrincipal, build_person_principal
from common.errors import DomainError, Invalid
from console.access import ConsoleRequest, get_sign_in_time
from console.queue.address import read_state
from console.queue.pages import NOTE_LIMIT, build_queue
from console.queue.selection.forms import BulkRulingForm, HeldForm, SelectionForm
from console.queue.selection.results import (
    build_results,
    describe_taken_back,
    describe_unsent,
)
from console.queue.selection.summary import Summary, build_summary
from reviews.bulk.held import send_held_rulings, take_back_rulings
from reviews.bulk.schemas import BULK_LIMIT
from reviews.bulk.services import submit_rulings_now
from reviews.models import Review
from reviews.queue.order import list_reviews
from safetext import make_visible


@require_POST
def summary(request: ConsoleRequest) -> HttpResponse:
    """What the action would do to each that is selected."""
    form = SelectionForm(request.POST)
    if not form.is_valid():
        return HttpResponse(status=Invalid.status)
    codes, beyond = _list_selected(request, form)
    found = {
        str(review.code): review
        for review in list_reviews(project_id=request.project.pk, codes=codes)
        if review.closed_at is None
    }
    reviews = [found[code] for code in codes if code in found]
    shown = build_summary(
        reviews,
        action=form.cleaned_data["action"],
        slug=request.project.slug,
        viewer_id=request.user.pk,
        beyond=beyond,
    )
    return _render_summary(request, shown)


@require_POST
def rule(request: ConsoleRequest) -> HttpResponse:
    """Rule on each that the summary listed."""
    form, slug = BulkRulingForm(request.POST), request.project.slug
    form.is_valid()
    items = form.cleaned_data.get("items", [])
    read = {each.item.id: each for each in items}
    loaded = list_reviews(project_id=request.project.pk, codes=list(read))
    reviews = {str(review.code): review for review in loaded}
    action = form.cleaned_data.get("action", "approve")
    alert = " ".join(map(str, form.non_field_errors()))
    if form.errors:
        return _refuse(request, form, [*reviews.values()], action, alert)
    try:
        results = submit_rulings_now(
            items=[each.item for each in read.values() if each.item.id in reviews],
            claimers={code: each.claimer for code, each in read.items()},
            action=action,
            note=form.cleaned_data["reason"],
            person=_build_person(request),
            # Without a script no page would send them.
            holds=bool(request.htmx) and request.preferences.takes_back,
        )
    except DomainError as refusal:
        alert = make_visible(refusal.detail)
        return _refuse(request, form, [*reviews.values()], action, alert)
    shown = build_results(results, action=action, reviews=reviews, slug=slug)
    context = {"results": shown, "slug": slug}
    return render(request, "console/queue/selection/_results.html", context)


@require_POST
def send(request: ConsoleRequest) -> HttpResponse:
    """What the page of this person holds: its time is over, or the page is closed."""
    codes = HeldForm(request.POST).get_codes()
    results = send_held_rulings(codes, person=_build_person(request))
    problem = describe_unsent(results)
    if not problem:
        return HttpResponse(status=204)
    return HttpResponse(problem, status=409, content_type="text/plain")


@require_POST
def take_back(request: ConsoleRequest) -> HttpResponse:
    """All of them that are not sent yet; answers in words what became of them."""
    codes = HeldForm(request.POST).get_codes()
    results = take_back_rulings(codes, person=_build_person(request))
    return HttpResponse(describe_taken_back(results), content_type="text/plain")


def _build_person(request: ConsoleRequest) -> PersonPrincipal:
    return build_person_principal(request.user, signed_in_at=get_sign_in_time(request))


def _refuse(
    request: ConsoleRequest,
    form: BulkRulingForm,
    reviews: list[Review],
    action: str,
    alert: str,
) -> HttpResponse:
    """The summary once more, with what is wrong and what was typed."""
    shown = build_summary(
        reviews,
        action=action,
        slug=request.project.slug,
        viewer_id=request.user.pk,
        beyond=0,
    )
    return _render_summary(request, shown, form=form, alert=alert)


def _render_summary(
    request: ConsoleRequest,
    shown: Summary,
    *,
    form: BulkRulingForm | None = None,
    alert: str = "",
) -> HttpResponse:
    context = {
        "summary": shown,
        "slug": request.project.slug,
        "note_limit": NOTE_LIMIT,
        "errors": form.errors if form else {},
        "typed": request.POST.get("reason", ""),
        "alert": alert,
    }
    status = Invalid.status if form else 200
    return render(
        request, "console/queue/selection/_summary.html", context, status=status
    )


def _list_selected(
    request: ConsoleRequest, form: SelectionForm
) -> tuple[list[str], int]:
    """Those that were ticked and those behind a ticked row, as its list has them; and how
    many there are beyond what can be ruled at once."""
    codes = [str(code) for code in form.get_codes()]
    keys = form.get_alike_keys()
    if not keys:
        return codes, 0
    queue = build_queue(request, read_state(request.POST))
    behind = queue.list_reviews().filter(alike_key__in=keys)
    alike = map(
        str,
        behind.order_by("urgency", "answer_by", "code").values_list("code", flat=True),
    )
    every = list(dict.fromkeys([*codes, *alike]))
    return every[:BULK_LIMIT], max(0, len(every) - BULK_LIMIT)
