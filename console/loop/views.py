"""The loop's pages, for every member of the project."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

from django import forms
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET

from accounts.models import Role
from common.errors import Invalid
from console.access import ConsoleRequest
from console.forms import get_limit
from console.loop.decision import build_decision_page, find_pending_signal, get_decision
from console.loop.decisions import build_legend, list_day_bars, list_decisions
from console.loop.filters import Filters
from console.loop.head import build_head, list_meters
from console.loop.queues import (
    list_ended_incidents,
    list_ended_notes,
    list_open_incidents,
    list_waiting_notes,
)
from console.loop.recommendations import (
    list_ended_recommendations,
    list_open_recommendations,
)
from console.loop.week import build_week_page
from console.runs.rows import get_live_position
from guidance.services import DEFAULT, get_policy_in_force
from loop.learning.iso_week import Week
from reviews.schemas.fields import ShortText

Part = Callable[[ConsoleRequest, datetime], dict[str, Any]]


def build_tab_view(name: str, part: Part) -> Callable[..., HttpResponse]:
    """A view for one tab; all of them share the header."""

    @require_GET
    def view(request: ConsoleRequest) -> HttpResponse:
        return render_tab(request, name)

    TABS[name] = part
    return view


TABS: dict[str, Part] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class FormRefusal:
    """Why a form on the page did nothing; `place` is the row whose form it was."""

    alert: str
    status: int
    form: forms.Form | None = None
    place: str = ""


def render_tab(
    request: ConsoleRequest, name: str, *, refused: FormRefusal | None = None
) -> HttpResponse:
    context = _build_frame(request)
    part = TABS[name](request, context["at"])
    context |= {
        "tab": name,
        "refused": refused,
        "text_limit": get_limit(ShortText),
        **part,
    }
    status = refused.status if refused else 200
    return render(request, f"console/loop/{name}.html", context, status=status)


def _build_decisions(request: ConsoleRequest, at: datetime) -> dict[str, Any]:
    project_id = request.project.pk
    filters = Filters.from_query(request.GET)
    before = request.GET.get("before", "")
    bars = list_day_bars(project_id, filters, at=at)
    return {
        "filters": filters,
        "bars": bars,
        "legend": build_legend(bars),
        "list": list_decisions(
            project_id, filters, before=before, slug=request.project.slug, at=at
        ),
        # Older pages are history: nothing arrives on them.
        "first": not before,
    }


def _build_recommendations(request: ConsoleRequest, at: datetime) -> dict[str, Any]:
    project_id, slug = request.project.pk, request.project.slug
    before = request.GET.get("before", "")
    return {
        "list": list_open_recommendations(project_id, before=before, slug=slug, at=at),
        "first": not before,
        "ended": list_ended_recommendations(project_id, slug=slug, at=at),
    }


def _build_notes(request: ConsoleRequest, at: datetime) -> dict[str, Any]:
    project_id, slug = request.project.pk, request.project.slug
    after = request.GET.get("after", "")
    return {
        "list": list_waiting_notes(project_id, after=after, slug=slug, at=at),
        "first": not after,
        "ended": list_ended_notes(project_id, slug=slug, at=at),
    }


def _build_incidents(request: ConsoleRequest, at: datetime) -> dict[str, Any]:
    project_id, slug = request.project.pk, request.project.slug
    return {
        "rows": list_open_incidents(project_id, slug=slug, at=at),
        "ended": list_ended_incidents(project_id, slug=slug, at=at),
    }


def _build_week(request: ConsoleRequest, at: datetime) -> dict[str, Any]:
    asked = request.GET.get("week", "")
    try:
        week = Week.parse(asked) if asked else Week.from_moment(at)
    except Invalid:
        raise Http404 from None
    return {"week": build_week_page(request.project.pk, week=week, at=at)}


decisions = build_tab_view("decisions", _build_decisions)
recommendations = build_tab_view("recommendations", _build_recommendations)
notes = build_tab_view("notes", _build_notes)
incidents = build_tab_view("incidents", _build_incidents)
week = build_tab_view("week", _build_week)


@require_GET
def decision(request: ConsoleRequest, code: UUID) -> HttpResponse:
    """One decision; until it is made, a page that waits for it."""
    context = _build_frame(request)
    found = get_decision(request.project.pk, code)
    if found is not None:
        context["decision"] = build_decision_page(
            found, slug=request.project.slug, at=context["at"]
        )
    else:
        context["trigger"] = find_pending_signal(request.project.pk, code)
        if context["trigger"] is None:
            raise Http404
    return render(request, "console/loop/decision.html", context)


def redirect_to_tab(
    request: ConsoleRequest, name: str, place: str = ""
) -> HttpResponse:
    """Redirect to a tab after one of its forms was accepted."""
    address = reverse(f"console:loop-{name}", args=[request.project.slug])
    return redirect(f"{address}#{place}" if place else address)


def _build_frame(request: ConsoleRequest) -> dict[str, Any]:
    since = get_live_position(project_id=request.project.pk)
    at = timezone.now()
    project_id = request.project.pk
    section = get_policy_in_force(project_id=project_id, name=DEFAULT).policy.loop
    return {
        "page": "loop",
        "since": since,
        "at": at,
        "now": int(at.timestamp() * 1000),
        "slug": request.project.slug,
        "manages": request.role.includes(Role.MANAGER),
        "head": build_head(project_id, section, at=at),
        # Asked for by the template: a page that shows none pays for none.
        "meters": partial(list_meters, project_id, section, at=at),
        "first": True,
    }
