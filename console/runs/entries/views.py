"""One entry of a run: opened in the timeline, or as a page of its own that can be linked."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET

from console.access import ConsoleRequest
from console.runs.entries.detail import build_detail
from console.runs.page import find_visible_run
from console.runs.rows import format_short_code, get_live_position
from console.runs.timeline import build_timeline
from safetext import make_visible_line


@require_GET
def entry(request: ConsoleRequest, code: UUID, seq: int) -> HttpResponse:
    since = get_live_position(project_id=request.project.pk)
    run = find_visible_run(request, code)
    found = None if run is None else run.entries.filter(seq=min(seq, 2**31 - 1)).first()
    if run is None or found is None:
        raise Http404
    slug, at = request.project.slug, timezone.now()
    detail = build_detail(found, run=run, slug=slug)
    if request.htmx:
        return render(request, "console/runs/_entry.html", {"entry": detail})
    (row,) = build_timeline([found], run=run, at=at, slug=slug)
    context = {
        "page": "run",
        "since": since,
        "now": int(at.timestamp() * 1000),
        "slug": slug,
        "entry": detail,
        "row": row,
        "run_code": str(run.code),
        "short": format_short_code(run.code),
        "task": make_visible_line(run.task),
    }
    return render(request, "console/runs/entry.html", context)
