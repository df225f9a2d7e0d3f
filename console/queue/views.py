"""The review queue and its detail. Reading works as plain links."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET

from accounts.selectors import list_projects
from console.access import ConsoleRequest, redirect_to_sign_in
from console.queue.agent_wait import build_wait
from console.queue.detail import load_review
from console.queue.pages import (
    build_detail_for,
    get_review,
    render_detail,
    render_list_part,
    render_narrowed,
    render_queue,
)


@require_GET
def home(request: HttpRequest) -> HttpResponse:
    """The queue of the viewer's first project."""
    if not request.user.is_authenticated:
        return redirect_to_sign_in(request)
    project = list_projects(user_id=request.user.pk).first()
    if project is None:
        return render(request, "accounts/no_project.html", status=404)
    return redirect("console:queue", project.slug)


@require_GET
def queue(request: ConsoleRequest) -> HttpResponse:
    """The list, with its first review opened beside it where there is room; to htmx a
    further part of the list, or the part that it shows anew."""
    if request.headers.get("HX-Request-Type") != "partial":
        return render_queue(request)
    return (
        render_narrowed(request)
        if "typed" in request.GET
        else render_list_part(request)
    )


@require_GET
def review(request: ConsoleRequest, code: UUID) -> HttpResponse:
    """The same list with this review opened; to htmx only the detail."""
    found = get_review(request, code)
    if request.headers.get("HX-Request-Type") != "partial":
        return render_queue(request, chosen=found)
    detail = build_detail_for(request, found)
    if request.GET.get("seen") == detail.seen:
        return HttpResponse(status=204)  # the screen shows just this already
    return render_detail(request, detail)


@require_GET
def agent_wait(request: ConsoleRequest, code: UUID) -> HttpResponse:
    """Whether an agent still waits: asked again and again by an open detail."""
    found = load_review(project_id=request.project.pk, code=code)
    waiting = build_wait(found, timezone.now()) if found else None
    if waiting is None:
        return HttpResponse(status=204)
    context = {"agent": waiting, "slug": request.project.slug, "code": code}
    return render(request, "console/queue/_agent_wait.html", context)
