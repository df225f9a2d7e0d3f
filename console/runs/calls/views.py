"""The page of a run's tool calls."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET

from console.access import ConsoleRequest
from console.runs.calls.rows import PAGE, build_call_rows, list_calls
from console.runs.page import find_visible_run
from console.runs.rows import format_short_code, get_live_position
from safetext import make_visible_line


@require_GET
def calls(request: ConsoleRequest, code: UUID) -> HttpResponse:
    since = get_live_position(project_id=request.project.pk)
    run = find_visible_run(request, code)
    if run is None:
        raise Http404
    before = request.GET.get("before", "")
    known = before.isascii() and before.isdigit() and len(before) < 19
    found = list_calls(run, before=int(before) if known else None)
    context = {
        "page": "run",
        "since": since,
        "now": int(timezone.now().timestamp() * 1000),
        "slug": request.project.slug,
        "run_code": str(run.code),
        "short": format_short_code(run.code),
        "task": make_visible_line(run.task),
        "rows": build_call_rows(found[:PAGE], run=run, slug=request.project.slug),
        "older": found[PAGE - 1].pk if len(found) > PAGE else None,
        "first": not known,
    }
    return render(request, "console/runs/calls.html", context)
