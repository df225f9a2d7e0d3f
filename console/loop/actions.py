"""The forms on the loop's pages: pause, resume, wake, adopt, dismiss, resolve."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TypeVar
from uuid import UUID

from django import forms
from django.db.models import Model, QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from accounts.auth import build_person_principal
from common.errors import DomainError, Invalid
from console.access import ConsoleRequest
from console.forms import get_first_error
from console.loop.forms import PauseForm, RecommendationForm, ResolveForm
from console.loop.views import FormRefusal, redirect_to_tab, render_tab
from loop.control.clock import wake_loop
from loop.control.switch import set_paused
from loop.control.worker_hint import send_hint
from loop.inbox.incidents import resolve_incident
from loop.inbox.recommendations import end_recommendation
from loop.models import Incident, Recommendation

M = TypeVar("M", bound=Model)


@require_POST
def switch_loop(request: ConsoleRequest, to: str) -> HttpResponse:
    """Any reviewer pauses the loop; a manager resumes it."""

    form = PauseForm(request.POST)

    def act() -> None:
        set_paused(
            project_id=request.project.pk,
            person=build_person_principal(request.user),
            paused=to == "pause",
            reason=form.cleaned_data["reason"],
        )

    return _perform(request, "decisions", act, form=form)


@require_POST
def wake(request: ConsoleRequest) -> HttpResponse:
    """Run the loop now, and go to the decision that follows."""
    try:
        reply = wake_loop(
            project_id=request.project.pk, person=build_person_principal(request.user)
        )
    except DomainError as refusal:
        refused = FormRefusal(alert=refusal.detail, status=refusal.status)
        return render_tab(request, "decisions", refused=refused)
    send_hint(request.project.pk)
    decision = json.loads(reply.body)["decision_id"]
    return redirect("console:loop-decision", request.project.slug, decision)


@require_POST
def close_recommendation(
    request: ConsoleRequest, code: UUID, word: str
) -> HttpResponse:
    """A manager adopts a recommendation, or dismisses it."""
    row = _get_row(request, Recommendation.objects.all(), code)
    form = RecommendationForm(request.POST)

    def act() -> None:
        end_recommendation(
            row=row,
            person=build_person_principal(request.user),
            adopt=word == "adopt",
            based_on=form.cleaned_data["based_on"],
        )

    place = f"recommendation-{code}"
    return _perform(request, "recommendations", act, form=form, place=place)


@require_POST
def close_incident(request: ConsoleRequest, code: UUID) -> HttpResponse:
    row = _get_row(request, Incident.objects.all(), code)
    form = ResolveForm(request.POST)

    def act() -> None:
        note = form.cleaned_data["note"]
        resolve_incident(
            incident=row, person=build_person_principal(request.user), note=note
        )

    return _perform(request, "incidents", act, form=form, place=f"incident-{code}")


def _get_row(request: ConsoleRequest, rows: QuerySet[M], code: UUID) -> M:
    found = rows.filter(project_id=request.project.pk, code=code).first()
    if found is None:
        raise Http404
    return found


def _perform(
    request: ConsoleRequest,
    tab: str,
    act: Callable[[], None],
    *,
    form: forms.Form,
    place: str = "",
) -> HttpResponse:
    """Act, then show the page again; an error is told above it and beside its field,
    whose dialog is closed, and what was typed is kept in there."""
    try:
        if not form.is_valid():
            raise Invalid(get_first_error(form))
        act()
    except DomainError as refusal:
        refused = FormRefusal(
            alert=refusal.detail, status=refusal.status, form=form, place=place
        )
        return render_tab(request, tab, refused=refused)
    return redirect_to_tab(request, tab, place)
