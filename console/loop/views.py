"""The pages of the system loop, for everybody in a project: plain links and forms."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET

from accounts.models import Role
from common.errors import Invalid
from console.access import ConsoleRequest, member_door
from console.loop.decision import awaited, decision_loaded, decision_page
from console.loop.decisions import day_bars, decisions_of, legend_of
from console.loop.filters import Filters
from console.loop.head import head_of, meters_of
from console.loop.queues import (
    incidents_ended,
    incidents_open,
    notes_ended,
    notes_waiting,
)
from console.loop.recommendations import recommendations_ended, recommendations_open
from console.loop.week import week_page
from console.runs.rows import live_position
from guidance.services import DEFAULT, policy_in_force
from loop.learning.iso_week import Week

Part = Callable[[ConsoleRequest, datetime], dict[str, Any]]


def tab(name: str, part: Part) -> Callable[..., HttpResponse]:
    """A page of its own under the same head."""

    @require_GET
    @member_door
    def view(request: ConsoleRequest) -> HttpResponse:
        return tab_page(request, name)

    TABS[name] = part
    return view


TABS: dict[str, Part] = {}


def tab_page(
    request: ConsoleRequest, name: str, *, alert: str = "", status: int = 200
) -> HttpResponse:
    """What `alert` says went wrong with a form of this page."""
    context = _frame(request)
    part = TABS[name](request, context["at"])
    context |= {"tab": name, "alert": alert, **part}
    return render(request, f"console/loop/{name}.html", context, status=status)


def _decisions(request: ConsoleRequest, at: datetime) -> dict[str, Any]:
    project_id = request.project.pk
    filters = Filters.of(request.GET)
    before = request.GET.get("before", "")
    bars = day_bars(project_id, filters, at=at)
    return {
        "filters": filters,
        "bars": bars,
        "legend": legend_of(bars),
        "list": decisions_of(
            project_id, filters, before=before, slug=request.project.slug, at=at
        ),
        # Older pages are history: nothing arrives on them.
        "first": not before,
    }


def _recommendations(request: ConsoleRequest, at: datetime) -> dict[str, Any]:
    before = request.GET.get("before", "")
    return {
        "list": recommendations_open(request.project.pk, before=before, at=at),
        "first": not before,
        "ended": recommendations_ended(request.project.pk, at=at),
    }


def _notes(request: ConsoleRequest, at: datetime) -> dict[str, Any]:
    after = request.GET.get("after", "")
    return {
        "list": notes_waiting(request.project.pk, after=after, at=at),
        "first": not after,
        "ended": notes_ended(request.project.pk, at=at),
    }


def _incidents(request: ConsoleRequest, at: datetime) -> dict[str, Any]:
    return {
        "rows": incidents_open(request.project.pk, at=at),
        "ended": incidents_ended(request.project.pk, at=at),
    }


def _week(request: ConsoleRequest, at: datetime) -> dict[str, Any]:
    asked = request.GET.get("week", "")
    try:
        week = Week.parse(asked) if asked else Week.containing(at)
    except Invalid:
        raise Http404 from None
    return {"week": week_page(request.project.pk, week=week, at=at)}


decisions = tab("decisions", _decisions)
recommendations = tab("recommendations", _recommendations)
notes = tab("notes", _notes)
incidents = tab("incidents", _incidents)
week = tab("week", _week)


@require_GET
@member_door
def decision(request: ConsoleRequest, code: UUID) -> HttpResponse:
    """One decision; while it is not made yet, the page waits for it."""
    context = _frame(request)
    found = decision_loaded(request.project.pk, code)
    if found is not None:
        context["decision"] = decision_page(
            found, slug=request.project.slug, at=context["at"]
        )
    else:
        context["trigger"] = awaited(request.project.pk, code)
        if context["trigger"] is None:
            raise Http404
    return render(request, "console/loop/decision.html", context)


def tab_address(request: ConsoleRequest, name: str, place: str = "") -> HttpResponse:
    """Back to a page after a form of it was taken."""
    address = reverse(f"loop:{name}", args=[request.project.slug])
    return redirect(f"{address}#{place}" if place else address)


def _frame(request: ConsoleRequest) -> dict[str, Any]:
    since = live_position(project_id=request.project.pk)
    at = timezone.now()
    project_id = request.project.pk
    section = policy_in_force(project_id=project_id, name=DEFAULT).policy.loop
    return {
        "page": "loop",
        "since": since,
        "at": at,
        "now": int(at.timestamp() * 1000),
        "slug": request.project.slug,
        "manages": request.role.includes(Role.MANAGER),
        "head": head_of(project_id, section, at=at),
        # Asked for by the template: a page that shows none pays for none.
        "meters": partial(meters_of, project_id, section, at=at),
        "first": True,
    }
