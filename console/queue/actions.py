"""What a person does in the queue. A review is loaded once to act on it, and once more
to show what became of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from uuid import UUID

from django import forms
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from accounts.auth import build_person_principal
from common.errors import DomainError, Invalid
from console.access import ConsoleRequest, get_sign_in_time
from console.forms import ShownNumber
from console.queue.amending.box import build_amend_box
from console.queue.amending.verdict import build_amend_verdict
from console.queue.detail import ReviewDetail
from console.queue.forms import ClaimForm, CommentForm, RulingForm
from console.queue.kinds import get_kind
from console.queue.pages import (
    ActionRefusal,
    build_detail_for,
    get_review,
    render_detail,
    render_queue,
)
from console.queue.teamwork.forms import AssignForm, SnoozeForm
from reviews import services
from reviews.allowances.ending import submit_allowance_end
from reviews.allowances.selectors import find_allowance
from reviews.errors import SignInAgain
from reviews.models import Review
from reviews.rulings.reading_proof import store_served_page
from reviews.teamwork import services as teamwork
from safetext import make_visible


@require_POST
def rule(request: ConsoleRequest, code: UUID) -> HttpResponse:
    review = get_review(request, code)
    form = RulingForm(request.POST, review=review)

    def act() -> None:
        person = build_person_principal(
            request.user, signed_in_at=get_sign_in_time(request)
        )
        submit = services.submit_held_ruling if holds else services.submit_ruling_now
        submit(review=review, person=person, **form.get_ruling())

    # Without a script no page would send it.
    holds = bool(request.htmx) and request.preferences.takes_back
    return _act(request, review, form, act, keeps_text=holds)


@require_POST
def send(request: ConsoleRequest, code: UUID) -> HttpResponse:
    """What the page of this person holds: its time is over, or the page is closed."""
    review = get_review(request, code)
    try:
        person = build_person_principal(
            request.user, signed_in_at=get_sign_in_time(request)
        )
        services.send_held_ruling(review=review, person=person)
    except DomainError as refusal:
        text = make_visible(refusal.detail)
        return HttpResponse(text, status=refusal.status, content_type="text/plain")
    return HttpResponse(status=204)


@require_POST
def take_back(request: ConsoleRequest, code: UUID) -> HttpResponse:
    review = get_review(request, code)

    def act() -> None:
        services.take_back_ruling(
            review=review, person=build_person_principal(request.user)
        )

    return _act(request, review, forms.Form(request.POST), act, keeps_text=True)


@require_POST
def amend(request: ConsoleRequest, code: UUID) -> HttpResponse:
    """What the gates say of a change, while it is typed."""
    review = get_review(request, code)
    if not get_kind(review.kind).is_amendable:
        raise Http404
    if review.closed_at is not None:
        return HttpResponse(status=204)  # the detail tells how it ended
    verdict = build_amend_verdict(review, request.POST)
    return render(request, "console/queue/_amend_verdict.html", {"verdict": verdict})


@require_POST
def page(request: ConsoleRequest, code: UUID) -> HttpResponse:
    """The next page of a call that is too long for one."""
    review = get_review(request, code)
    number = ShownNumber().clean(request.POST.get("next", "")) or 0
    try:
        store_served_page(review, user_id=request.user.pk, page=number)
    except DomainError as refusal:
        return _render_refusal(request, review, forms.Form(), refusal)
    if not request.htmx:
        address = reverse("console:review", args=[request.project.slug, code])
        return redirect(f"{address}?page={number}")
    detail = build_detail_for(request, review, page=number)
    return render_detail(request, detail)


@require_POST
def claim(request: ConsoleRequest, code: UUID) -> HttpResponse:
    review, form = get_review(request, code), ClaimForm(request.POST)

    def act() -> None:
        teamwork.submit_claim(
            review=review,
            person=build_person_principal(request.user),
            take_over=form.cleaned_data["take_over"],
        )

    return _act(request, review, form, act, keeps_text=True)


@require_POST
def release(request: ConsoleRequest, code: UUID) -> HttpResponse:
    review = get_review(request, code)

    def act() -> None:
        teamwork.submit_release(
            review=review, person=build_person_principal(request.user)
        )

    return _act(request, review, forms.Form(request.POST), act, keeps_text=True)


@require_POST
def comment(request: ConsoleRequest, code: UUID) -> HttpResponse:
    review, form = get_review(request, code), CommentForm(request.POST)

    def act() -> None:
        teamwork.submit_comment(
            review=review,
            person=build_person_principal(request.user),
            text=form.cleaned_data["text"],
            reply_to=form.cleaned_data["reply_to"],
        )

    return _act(request, review, form, act)


@require_POST
def assign(request: ConsoleRequest, code: UUID) -> HttpResponse:
    review = get_review(request, code)
    form = AssignForm(request.POST, review=review)

    def act() -> None:
        person = build_person_principal(request.user)
        if form.is_handover:
            note = form.cleaned_data["note"]
            teamwork.submit_handover(review=review, person=person, note=note)
        else:
            teamwork.submit_assignment(
                review=review, person=person, **form.get_assignment()
            )

    return _act(request, review, form, act, sent=("assign-note",))


@require_POST
def disallow(request: ConsoleRequest, code: UUID) -> HttpResponse:
    """Take back what the ruling on this review has allowed, if it has."""
    review = get_review(request, code)

    def act() -> None:
        given = find_allowance(review, at=timezone.now())
        if given is not None:
            submit_allowance_end(
                run_code=str(review.run.code),
                code=given.allowance.code,
                person=build_person_principal(request.user),
            )

    return _act(request, review, forms.Form(request.POST), act, keeps_text=True)


@require_POST
def snooze(request: ConsoleRequest, code: UUID) -> HttpResponse:
    review, form = get_review(request, code), SnoozeForm(request.POST)

    def act() -> None:
        person = build_person_principal(request.user)
        if review.snoozed_until is not None:
            teamwork.submit_return(review=review, person=person)
        else:
            wanted = form.get_snooze(review, timezone.now())
            teamwork.submit_snooze(review=review, person=person, **wanted)

    return _act(request, review, form, act, keeps_text=True)


def _act(
    request: ConsoleRequest,
    review: Review,
    form: forms.Form,
    act: Callable[[], None],
    *,
    keeps_text: bool = False,
    sent: tuple[str, ...] = (),
) -> HttpResponse:
    """Act, then show the review as it is now, or beside each field what is wrong. `sent`
    names the fields whose texts are taken then: those of the dock, where it is empty."""
    if not form.is_valid():
        return _answer(
            request, review, ActionRefusal(status=Invalid.status, errors=form.errors)
        )
    try:
        act()
    except DomainError as refusal:
        return _render_refusal(request, review, form, refusal)
    if not request.htmx:  # the form works without a script, too
        return redirect("console:review", request.project.slug, review.code)
    now = get_review(request, review.code)
    response = render_detail(request, build_detail_for(request, now))
    if not keeps_text:
        # The text is in the ledger now: the field and its draft may be emptied.
        names = [*(sent or ("note",))]
        if request.POST.get("action") and get_kind(review.kind).is_amendable:
            box = build_amend_box(json.loads(review.content))
            names += [part.name for part in box.parts]
        taken = [f"{name}-{review.code}" for name in names]
        response["HX-Trigger"] = json.dumps({"sent": {"fields": taken}})
    return response


def _render_refusal(
    request: ConsoleRequest, review: Review, form: forms.Form, refusal: DomainError
) -> HttpResponse:
    """The review as it is now, with the refusal in words; what was typed is kept."""
    now = get_review(request, review.code)
    detail = build_detail_for(request, now)
    alert = _describe_race(refusal, detail)
    if not alert:
        beside = isinstance(form, RulingForm) and form.add_refusal(refusal)
        alert = "" if beside else make_visible(refusal.detail)
    refused = ActionRefusal(
        status=refusal.status,
        errors=form.errors,
        alert=alert,
        take_over=refusal.extra.get("claimer", ""),
        asks_password=isinstance(refusal, SignInAgain),
    )
    return _answer(request, now, refused, detail)


def _answer(
    request: ConsoleRequest,
    review: Review,
    refused: ActionRefusal,
    detail: ReviewDetail | None = None,
) -> HttpResponse:
    if not request.htmx:
        return render_queue(request, chosen=review, refused=refused)
    detail = detail or build_detail_for(request, review)
    response = render_detail(request, detail, refused=refused)
    if request.POST.get("action") == "amend":
        response["HX-Trigger"] = "judge"  # what is on screen may be of another text
    return response


def _describe_race(refusal: DomainError, detail: ReviewDetail) -> str:
    """Who did what when, if somebody was faster."""
    if refusal.status not in {409, 410} or detail.outcome is None:
        return ""
    happened = f"{detail.outcome.sentence} {detail.outcome.ago}"
    return f"Not taken. {happened}. Your text is kept."
