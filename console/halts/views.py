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
from console.access import ConsoleRequest, require_member
from console.forms import add_refusal
from console.halts.forms import HaltForm, ReleaseForm
from console.halts.rows import (
    PAST_LIMIT,
    build_row,
    list_past_rows,
    list_standing_rows,
)
from console.runs.rows import get_live_position
from ledger.models import Halt
from reviews.halts.selectors import RELATED
from reviews.halts.services import submit_halt, submit_release


@require_GET
@require_member
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
@require_member
def new_halt(request: ConsoleRequest) -> HttpResponse:
    """`?run=` comes from the page of that run."""
    agents = _list_agent_names(request)
    if request.method != "POST":
        asked = {"kind": "run", "run": request.GET.get("run", ""), "children": True}
        initial = asked if asked["run"] else {"kind": "project"}
        return _render_new(request, HaltForm(agents, initial=initial))
    form, status = HaltForm(agents, request.POST), Invalid.status
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
    return _render_new(request, form, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@require_member
def release(request: ConsoleRequest, code: UUID) -> HttpResponse:
    rows = Halt.objects.select_related(*RELATED)
    halt = rows.filter(project_id=request.project.pk, code=code).first()
    if halt is None:
        raise Http404
    agents = _list_agent_names(request)
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
    request: ConsoleRequest, form: HaltForm, *, status: int = 200
) -> HttpResponse:
    context = {**_build_context(request), "form": form}
    return render(request, "console/halts/new.html", context, status=status)


def _render_release(
    request: ConsoleRequest, halt: Halt, form: ReleaseForm, *, status: int = 200
) -> HttpResponse:
    row = build_row(halt, slug=request.project.slug, at=timezone.now(), counted=True)
    context = {**_build_context(request), "form": form, "row": row}
    return render(request, "console/halts/release.html", context, status=status)
