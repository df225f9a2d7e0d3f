"""Pages of halts: what is halted, halt something, let it go on."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods

from accounts.auth import build_person_principal
from accounts.selectors import list_agents
from common.errors import DomainError, Invalid
from console.access import ConsoleRequest
from console.forms import add_refusal
from console.halts.effect import HaltEffect, build_effect
from console.halts.forms import HaltForm, ReleaseForm, ScopeForm
from console.halts.rows import (
    PAST_LIMIT,
    build_row,
    list_past_rows,
    list_standing_rows,
)
from console.runs.rows import get_live_position
from ledger.models import Halt
from reviews.halts.selectors import RELATED
from reviews.halts.services import build_halt, submit_halt, submit_release


@require_GET
def halts(request: ConsoleRequest) -> HttpResponse:
    context = _build_context(request)
    project_id, slug, at = request.project.pk, request.project.slug, timezone.now()
    context |= {
        "standing": list_standing_rows(project_id=project_id, slug=slug, at=at),
        "past": list_past_rows(project_id=project_id, slug=slug, at=at),
        "past_limit": PAST_LIMIT,
    }
    return render(request, "console/halts/halts.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def new_halt(request: ConsoleRequest) -> HttpResponse:
    """`?run=` comes from the page of that run. What was not shown with its effect is shown
    first: nothing is halted by the way."""
    agents = _list_agent_names(request)
    if request.method != "POST":
        run = request.GET.get("run", "")
        asked = {"kind": "run", "run": run, "children": "on"} if run else {}
        form, effect = HaltForm(agents, initial=asked), None
        if asked:
            effect = _find_effect(request, ScopeForm(agents, asked))
        return _render_new(request, form, effect=effect)
    form, status = HaltForm(agents, request.POST), Invalid.status
    effect = _find_effect(request, form)
    if form.is_valid() and effect and effect.seen != form.cleaned_data["seen"]:
        return _render_new(request, form, effect=effect)
    if form.is_valid():
        try:
            submit_halt(
                person=build_person_principal(request.user),
                project_id=request.project.pk,
                scope=form.cleaned_data["scope"],
                reason=form.cleaned_data["reason"],
            )
        except DomainError as refusal:
            add_refusal(form, refusal)
            status = refusal.status
        else:
            return redirect("console:halts", request.project.slug)
    return _render_new(request, form, effect=effect, status=status)


@require_GET
def effect(request: ConsoleRequest) -> HttpResponse:
    """Show what the scope that is being chosen would hold."""
    form = ScopeForm(_list_agent_names(request), request.GET)
    context = {"form": form, "effect": _find_effect(request, form)}
    return render(request, "console/halts/_effect.html", context)


def _find_effect(request: ConsoleRequest, form: ScopeForm) -> HaltEffect | None:
    """None while the scope is not complete, or names nothing of this project; the form
    says then why."""
    form.is_valid()
    scope = form.cleaned_data.get("scope")
    if scope is None:
        return None
    try:
        return build_effect(
            build_halt(
                scope,
                project_id=request.project.pk,
                person=build_person_principal(request.user),
                reason="",
            )
        )
    except DomainError as refusal:
        add_refusal(form, refusal)
        return None


@require_http_methods(["GET", "HEAD", "POST"])
def release(request: ConsoleRequest, code: UUID) -> HttpResponse:
    rows = Halt.objects.select_related(*RELATED)
    halt = rows.filter(project_id=request.project.pk, code=code).first()
    if halt is None:
        raise Http404
    whole = halt.agent is None and halt.run is None
    agents = _list_agent_names(request) if whole else []
    if request.method != "POST":
        return _render_release(request, halt, ReleaseForm(agents))
    form, status = ReleaseForm(agents, request.POST), Invalid.status
    if form.is_valid():
        try:
            submit_release(
                person=build_person_principal(request.user),
                code=str(code),
                reason=form.cleaned_data["reason"],
                keep=form.cleaned_data["keep"],
            )
        except DomainError as refusal:
            add_refusal(form, refusal)
            status = refusal.status
        else:
            return redirect("console:halts", request.project.slug)
    return _render_release(request, halt, form, status=status)


def _list_agent_names(request: ConsoleRequest) -> list[str]:
    found = list_agents(project_id=request.project.pk)
    return list(found.order_by("name").values_list("name", flat=True))


def _build_context(request: ConsoleRequest) -> dict[str, Any]:
    return {
        "page": "halts",
        "since": get_live_position(project_id=request.project.pk),
        "now": int(timezone.now().timestamp() * 1000),
        "slug": request.project.slug,
    }


def _render_new(
    request: ConsoleRequest,
    form: HaltForm,
    *,
    effect: HaltEffect | None,
    status: int = 200,
) -> HttpResponse:
    context = {**_build_context(request), "form": form, "effect": effect}
    return render(request, "console/halts/new.html", context, status=status)


def _render_release(
    request: ConsoleRequest, halt: Halt, form: ReleaseForm, *, status: int = 200
) -> HttpResponse:
    row = build_row(halt, slug=request.project.slug, at=timezone.now(), counted=True)
    context = {**_build_context(request), "form": form, "row": row}
    return render(request, "console/halts/release.html", context, status=status)
