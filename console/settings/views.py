"""Settings: where they open, and who changed what."""

from __future__ import annotations

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET

from console.access import ConsoleRequest
from console.forms import ShownNumber
from console.settings.changes import list_changes
from console.settings.tabs import build_frame, list_tabs


@require_GET
def settings(request: ConsoleRequest) -> HttpResponse:
    """Leads to the first tab that the viewer has."""
    tabs = list_tabs(request)
    if not tabs:
        raise Http404
    return redirect(tabs[0].address, request.project.slug)


@require_GET
def changes(request: ConsoleRequest) -> HttpResponse:
    before = ShownNumber().clean(request.GET.get("before", "")) or None
    context = {
        **build_frame(request, "changes"),
        "first": before is None,
        "changes": list_changes(project_id=request.project.pk, before=before),
    }
    return render(request, "console/settings/changes.html", context)
