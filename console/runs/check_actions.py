"""What a person does on the page of a run about its gate checks."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST

from accounts.auth import person_of
from console.access import ConsoleRequest, member_door
from console.runs.checks import run_checks_of
from console.runs.page import run_loaded
from reviews.services import warning_acknowledge


@require_POST
@member_door
def acknowledge(request: ConsoleRequest, code: UUID, warning: UUID) -> HttpResponse:
    """The warning need not be told again; the run goes on as before."""
    run = run_loaded(project_id=request.project.pk, code=code)
    if run is None or not run.warnings.filter(code=warning).exists():
        raise Http404
    warning_acknowledge(
        run_code=str(code), warning_code=str(warning), person=person_of(request.user)
    )
    if not request.htmx:
        return redirect("console:run", request.project.slug, code)
    checks = run_checks_of(run, slug=request.project.slug, at=timezone.now())
    return render(request, "console/runs/_run_checks.html", {"checks": checks})
