"""The forms on the loop's pages: pause, resume, wake, adopt, dismiss, resolve."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import TypeVar
from uuid import UUID

from django.db.models import Model, QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from accounts.auth import person_of
from common.errors import DomainError, Invalid
from console.access import ConsoleRequest, member_door
from console.loop.views import redirect_to_tab, render_tab
from guidance.redactor import clean
from loop.control.clock import wake_loop
from loop.control.switch import set_paused
from loop.control.worker_hint import send_hint
from loop.inbox.incidents import resolve_incident
from loop.inbox.recommendations import end_recommendation
from loop.models import Incident, Recommendation

M = TypeVar("M", bound=Model)
TEXT_LIMIT = 4_000


@require_POST
@member_door
def switch_loop(request: ConsoleRequest, to: str) -> HttpResponse:
    """Any member pauses the loop; a manager resumes it."""

    def act() -> None:
        set_paused(
            project_id=request.project.pk,
            person=person_of(request.user),
            paused=to == "pause",
            reason=_parse_text(request, "reason"),
        )

    return _perform(request, "decisions", act)


@require_POST
@member_door
def wake(request: ConsoleRequest) -> HttpResponse:
    """Run the loop now, and go to the decision that follows."""
    try:
        reply = wake_loop(project_id=request.project.pk, person=person_of(request.user))
    except DomainError as refusal:
        return render_tab(request, "decisions", alert=refusal.detail, status=422)
    send_hint(request.project.pk)
    decision = json.loads(reply.body)["decision_id"]
    return redirect("console:loop-decision", request.project.slug, decision)


@require_POST
@member_door
def close_recommendation(
    request: ConsoleRequest, code: UUID, word: str
) -> HttpResponse:
    """A manager adopts a recommendation, or dismisses it."""
    row = _get_row(request, Recommendation.objects.all(), code)

    def act() -> None:
        end_recommendation(
            row=row,
            person=person_of(request.user),
            adopt=word == "adopt",
            based_on=_parse_version(request),
        )

    return _perform(request, "recommendations", act, place=f"recommendation-{code}")


@require_POST
@member_door
def close_incident(request: ConsoleRequest, code: UUID) -> HttpResponse:
    row = _get_row(request, Incident.objects.all(), code)

    def act() -> None:
        note = _parse_text(request, "note")
        resolve_incident(incident=row, person=person_of(request.user), note=note)

    return _perform(request, "incidents", act, place=f"incident-{code}")


def _get_row(request: ConsoleRequest, rows: QuerySet[M], code: UUID) -> M:
    found = rows.filter(project_id=request.project.pk, code=code).first()
    if found is None:
        raise Http404
    return found


def _perform(
    request: ConsoleRequest, tab: str, act: Callable[[], None], *, place: str = ""
) -> HttpResponse:
    """Act, then show the page again, with the error above it if there is one."""
    try:
        act()
    except DomainError as refusal:
        return render_tab(request, tab, alert=refusal.detail, status=refusal.status)
    return redirect_to_tab(request, tab, place)


def _parse_version(request: ConsoleRequest) -> int | None:
    """The policy version that the shown difference is based on, if any."""
    given = request.POST.get("based_on", "")
    return int(given) if re.fullmatch(r"[0-9]{1,9}", given) else None


def _parse_text(request: ConsoleRequest, name: str) -> str:
    text = request.POST.get(name, "").replace("\r\n", "\n").strip()
    if len(text) > TEXT_LIMIT:
        raise Invalid(f"The text is too long: at most {TEXT_LIMIT} characters.")
    if "\x00" in text:
        raise Invalid("The text holds a character that cannot be stored.")
    return clean(text)
