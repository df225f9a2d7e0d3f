"""The review queue and what a person does in it. Reading works as plain links."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from accounts.auth import person_of
from accounts.selectors import projects_of
from common.errors import DomainError, Invalid
from console.access import ConsoleRequest, member_door, sign_in_first
from console.format import format_count
from console.layout import shell_of
from console.queue.agent_wait import build_wait
from console.queue.amend import amended_from
from console.queue.amend_verdict import amend_verdict
from console.queue.detail import ReviewDetail, build_detail, load_review
from console.queue.floods import list_flood_notices
from console.queue.kinds import get_kind
from console.queue.pages import get_list, render_list_part
from console.queue.remember import parse_remember
from reviews import services
from reviews.models import Review
from reviews.queue.order import SHOWS
from reviews.rulings.reading_proof import page_serve
from reviews.schemas.reviews import RememberIn
from safetext import visible

TEXT_LIMIT = 4_000


@require_GET
def home(request: HttpRequest) -> HttpResponse:
    """The queue of the viewer's first project."""
    if not request.user.is_authenticated:
        return sign_in_first(request)
    project = projects_of(user_id=request.user.pk).first()
    if project is None:
        return render(request, "accounts/no_project.html", status=404)
    return redirect("console:queue", project.slug)


@require_GET
@member_door
def queue(request: ConsoleRequest) -> HttpResponse:
    """The list, with its first review opened beside it where there is room; to htmx a
    further part of the list, or the part that it shows anew."""
    if request.headers.get("HX-Request-Type") != "partial":
        return _queue_page(request)
    return render_list_part(request)


@require_GET
@member_door
def review(request: ConsoleRequest, code: UUID) -> HttpResponse:
    """The same list with this review opened; to htmx only the detail."""
    if request.headers.get("HX-Request-Type") != "partial":
        return _queue_page(request, chosen=_get_review(request, code))
    detail = _build_detail(request, code)
    if request.GET.get("seen") == detail.seen:
        return HttpResponse(status=204)  # the screen shows just this already
    return _render_detail(request, detail)


@require_GET
@member_door
def agent_wait(request: ConsoleRequest, code: UUID) -> HttpResponse:
    """Whether an agent still waits: asked again and again by an open detail."""
    found = load_review(project_id=request.project.pk, code=code)
    waiting = build_wait(found, timezone.now()) if found else None
    if waiting is None:
        return HttpResponse(status=204)
    context = {"agent": waiting, "slug": request.project.slug, "code": code}
    return render(request, "console/queue/_agent_wait.html", context)


@require_POST
@member_door
def rule(request: ConsoleRequest, code: UUID) -> HttpResponse:
    action = request.POST.get("action", "")
    found = _get_review(request, code)
    lets_run = get_kind(found.kind).is_call and action in {"approve", "amend"}

    def act() -> None:
        text = _text(request, "reason" if action == "abort" else "text")
        services.review_rule(
            review_code=str(code),
            person=person_of(request.user),
            action=action,
            version=_number(request, "version"),
            content_digest=request.POST.get("content_digest"),
            note="" if action == "answer" else text,
            answer=text if action == "answer" else None,
            amended=_parse_amendment(request, found) if lets_run else None,
            confirmed=request.POST.get("confirmed", ""),
            take_over=request.POST.get("take_over", ""),
            remember=_remember(request) if lets_run else None,
        )

    return _act(request, code, act)


@require_POST
@member_door
def amend(request: ConsoleRequest, code: UUID) -> HttpResponse:
    """What the gates say of a change, while it is typed."""
    found = _get_review(request, code)
    if not get_kind(found.kind).is_call:
        raise Http404
    if found.closed_at is not None:
        return HttpResponse(status=204)  # the detail tells how it ended
    verdict = amend_verdict(found, request.POST.get("amended", ""))
    template = "console/queue/_amend_verdict.html"
    return render(request, template, {"verdict": verdict})


@require_POST
@member_door
def page(request: ConsoleRequest, code: UUID) -> HttpResponse:
    """The next page of a call that is too long for one."""
    found, number = _get_review(request, code), _number(request, "next") or 0
    try:
        page_serve(found, user_id=request.user.pk, page=number)
    except DomainError as refusal:
        return _render_refusal(request, code, refusal)
    if not request.htmx:
        address = reverse("console:review", args=[request.project.slug, code])
        return redirect(f"{address}?page={number}")
    return _render_detail(request, _build_detail(request, code, page=number))


@require_POST
@member_door
def claim(request: ConsoleRequest, code: UUID) -> HttpResponse:
    def act() -> None:
        services.review_claim(
            review_code=str(code),
            person=person_of(request.user),
            take_over=request.POST.get("take_over", ""),
        )

    return _act(request, code, act, keeps_text=True)


@require_POST
@member_door
def release(request: ConsoleRequest, code: UUID) -> HttpResponse:
    def act() -> None:
        services.review_release(review_code=str(code), person=person_of(request.user))

    return _act(request, code, act, keeps_text=True)


@require_POST
@member_door
def comment(request: ConsoleRequest, code: UUID) -> HttpResponse:
    def act() -> None:
        text = _text(request, "text")
        if not text:
            raise Invalid("Write the note first.")
        services.review_comment(
            review_code=str(code), person=person_of(request.user), text=text
        )

    return _act(request, code, act)


@require_POST
@member_door
def run_abort(request: ConsoleRequest, code: UUID) -> HttpResponse:
    """From the page of a run. What it shows next comes by the socket as to all."""
    try:
        services.run_abort(
            run_code=str(code),
            person=person_of(request.user),
            reason=_text(request, "reason"),
        )
    except DomainError as refusal:
        response = HttpResponse(refusal.detail, status=refusal.status)
        response["Content-Type"] = "text/plain; charset=utf-8"
        return response
    return HttpResponse(status=204)


def _queue_page(
    request: ConsoleRequest,
    *,
    chosen: Review | None = None,
    alert: str = "",
    take_over: str = "",
    status: int = 200,
) -> HttpResponse:
    at = timezone.now()
    viewer = str(request.user.code)
    listed = get_list(request, chosen=chosen)
    opened = chosen
    if opened is None and listed.rows:
        opened = _get_review(request, UUID(listed.rows[0].code))
    detail = None
    if opened is not None:
        detail = build_detail(
            opened,
            slug=request.project.slug,
            viewer=request.user,
            at=at,
            page=_page(request),
        )
    tally = shell_of(request).tally
    context = {
        "page": "queue",
        "since": listed.seq,
        "now": int(at.timestamp() * 1000),
        "list": listed,
        "show": listed.show,
        "shell": shell_of(request),
        "tally": tally,
        "floods": list_flood_notices(
            project_id=request.project.pk, slug=request.project.slug, total=tally.total
        ),
        "counts": {name: tally.count_shown(show=name, viewer=viewer) for name in SHOWS},
        "slug": request.project.slug,
        "detail": detail,
        "others": _describe_others(tally.total),
        "place": listed.describe_position(detail.code) if detail else "",
        "open": "detail" if chosen else "list",
        "alert": alert,
        "take_over": take_over,
        # There is no dialog without a script: the dock says it.
        "alert_at": "",
        "typed": request.POST,
    }
    return render(request, "console/queue/queue.html", context, status=status)


def _describe_others(count: int) -> str:
    """Reviews that the filter hides; empty where there are none."""
    return (
        f"{format_count(count, 'other')} {'waits' if count == 1 else 'wait'}."
        if count
        else ""
    )


def _get_review(request: ConsoleRequest, code: UUID) -> Review:
    found = load_review(project_id=request.project.pk, code=code)
    if found is None:
        raise Http404
    return found


def _build_detail(
    request: ConsoleRequest, code: UUID, *, page: int | None = None
) -> ReviewDetail:
    return build_detail(
        _get_review(request, code),
        slug=request.project.slug,
        viewer=request.user,
        at=timezone.now(),
        page=page or _page(request),
    )


def _render_detail(
    request: ConsoleRequest,
    detail: ReviewDetail,
    *,
    alert: str = "",
    take_over: str = "",
    status: int = 200,
) -> HttpResponse:
    context = {
        "detail": detail,
        "slug": request.project.slug,
        "alert": alert,
        "take_over": take_over,
        # A dialog says it itself, as long as it is there.
        "alert_at": "" if detail.outcome else request.POST.get("action", ""),
    }
    return render(request, "console/queue/_detail.html", context, status=status)


def _act(
    request: ConsoleRequest,
    code: UUID,
    act: Callable[[], None],
    *,
    keeps_text: bool = False,
) -> HttpResponse:
    """Act, then show the review as it is now, with the refusal in words if any."""
    _get_review(request, code)
    try:
        act()
    except DomainError as refusal:
        return _render_refusal(request, code, refusal)
    if not request.htmx:  # the form works without a script, too
        return redirect("console:review", request.project.slug, code)
    response = _render_detail(request, _build_detail(request, code))
    if not keeps_text:
        # The text is in the ledger now: the field and its draft may be emptied.
        taken = [f"note-{code}"]
        if request.POST.get("action"):
            taken.append(f"amend-{code}")
        response["HX-Trigger"] = json.dumps({"sent": {"fields": taken}})
    return response


def _render_refusal(
    request: ConsoleRequest, code: UUID, refusal: DomainError
) -> HttpResponse:
    """The review as it is now, with the refusal in words; what was typed is kept."""
    detail = _build_detail(request, code)
    said: dict[str, Any] = {
        "alert": _words(refusal, detail),
        # Whose claim the next press walks over: they have been named.
        "take_over": refusal.extra.get("claimer", ""),
        "status": refusal.status,
    }
    if not request.htmx:
        chosen = _get_review(request, code)
        return _queue_page(request, chosen=chosen, **said)
    response = _render_detail(request, detail, **said)
    if request.POST.get("action") == "amend":
        response["HX-Trigger"] = "judge"  # what is on screen may be of another text
    return response


def _words(refusal: DomainError, detail: ReviewDetail) -> str:
    """Who did what when, if somebody was faster; else what the refusal says itself."""
    if refusal.status in {409, 410} and detail.outcome is not None:
        happened = f"{detail.outcome.sentence} {detail.outcome.ago}"
        return f"Not taken. {happened}. Your text is kept."
    more = [
        error["message"] for error in refusal.errors if error["loc"][:1] == ["amended"]
    ]
    return visible(" ".join([refusal.detail, *(f"{said}." for said in more)]))


def _parse_amendment(request: ConsoleRequest, review: Review) -> dict[str, Any] | None:
    if request.POST.get("action") != "amend":
        return None
    return amended_from(json.loads(review.content), request.POST.get("amended", ""))


def _remember(request: ConsoleRequest) -> RememberIn | None:
    """With an approval as it is: what a person changed is let through once."""
    if request.POST.get("action") != "approve":
        return None
    return parse_remember(request.POST.dict())


def _page(request: ConsoleRequest) -> int:
    """The page of a long call that the screen shows, or is to show."""
    return _whole(request.POST.get("page") or request.GET.get("page", "")) or 1


def _number(request: ConsoleRequest, name: str) -> int | None:
    return _whole(request.POST.get(name, ""))


def _whole(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


def _text(request: ConsoleRequest, name: str) -> str:
    text = request.POST.get(name, "").replace("\r\n", "\n").strip()
    if len(text) > TEXT_LIMIT:
        raise Invalid(f"The text is too long: at most {TEXT_LIMIT} characters.")
    if "\x00" in text:
        raise Invalid("The text holds a character that cannot be stored.")
    return text
