"""The list of runs and the page of one run. Reading only."""

from __future__ import annotations

from urllib.parse import urlencode
from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET

from common.ids import parse_code
from console.access import ConsoleRequest, require_member
from console.forms import get_limit
from console.runs.checks import build_run_checks
from console.runs.forms import ReopenForm
from console.runs.page import build_page, get_run
from console.runs.rows import (
    PAGE,
    SHOWS,
    build_run_rows,
    format_short_code,
    get_live_position,
    list_runs,
)
from console.runs.timeline import PAGE as ENTRIES
from console.runs.timeline import build_timeline, list_entries
from ledger.models import Run
from reviews.schemas.fields import Reason
from safetext import make_visible_line

SEARCH_LIMIT = 200


@require_GET
@require_member
def runs(request: ConsoleRequest) -> HttpResponse:
    since = get_live_position(project_id=request.project.pk)
    at = timezone.now()
    show = request.GET.get("show", "")
    show = show if show in SHOWS else ""
    search = request.GET.get("q", "").replace("\x00", "").strip()[:SEARCH_LIMIT]
    parent = _get_parent(request)
    found = list_runs(
        project_id=request.project.pk, show=show, search=search, parent=parent
    )
    found = found.select_related("agent", "outcome").defer("memory")
    above = "" if parent is None else str(parent.code)
    asked = (("parent", above), ("show", show), ("q", search))
    wanted = {name: text for name, text in asked if text}
    after, before = _find_run_id(request, "older"), _find_run_id(request, "newer")
    if after is not None:
        found = found.filter(pk__lt=after)
    elif before is not None:
        found = found.filter(pk__gt=before).order_by("pk")
    page = list(found[: PAGE + 1])
    more = len(page) > PAGE
    if before is not None and not more:
        # No more than the newest page has: that one is live.
        address = reverse("console:runs", args=[request.project.slug])
        return redirect(f"{address}?{urlencode(wanted)}" if wanted else address)
    page = page[:PAGE]
    if before is not None:
        page.reverse()
    first = after is None and before is None
    older = newer = ""
    if page and (more or before is not None):
        older = urlencode({**wanted, "older": page[-1].code})
    if page and not first:
        newer = urlencode({**wanted, "newer": page[0].code})
    context = {
        "page": "runs",
        "since": since,
        "now": int(at.timestamp() * 1000),
        "slug": request.project.slug,
        "rows": build_run_rows(page, slug=request.project.slug, at=at, seq=since),
        "shows": [
            (name, name.capitalize() or "All", urlencode({**wanted, "show": name}))
            for name in ("", *SHOWS)
        ],
        "parent": parent and _build_parent(parent, slug=request.project.slug),
        "show": show,
        "search": search,
        "older": older,
        "newer": newer,
        # Runs that begin now have their place only on the first, unsearched page.
        "first": first and not search and parent is None,
    }
    return render(request, "console/runs/runs.html", context)


@require_GET
@require_member
def run(request: ConsoleRequest, code: UUID) -> HttpResponse:
    since = get_live_position(project_id=request.project.pk)
    at = timezone.now()
    found = get_run(project_id=request.project.pk, code=code)
    if found is None:
        raise Http404
    before = request.GET.get("before", "")
    known = before.isascii() and before.isdigit() and len(before) < 10
    entries = list_entries(found, before=int(before) if known else None)
    older = entries[ENTRIES - 1].seq if len(entries) > ENTRIES else None
    context = {
        "page": "run",
        "since": since,
        "now": int(at.timestamp() * 1000),
        "slug": request.project.slug,
        "run": build_page(found, slug=request.project.slug, at=at),
        "checks": build_run_checks(found, slug=request.project.slug, at=at),
        "timeline": build_timeline(entries[:ENTRIES], run=found, at=at),
        "older": older,
        # Older pages are history: nothing arrives on them.
        "first": not known,
        "socket": f"runs/{found.code}/",
        "reopen_form": ReopenForm(),
        "reason_limit": get_limit(Reason),
    }
    return render(request, "console/runs/run.html", context)


def _get_parent(request: ConsoleRequest) -> Run | None:
    """The run whose children are asked for."""
    asked = request.GET.get("parent")
    if not asked:
        return None
    code = parse_code(asked)
    found = code and get_run(project_id=request.project.pk, code=code)
    if not found:
        raise Http404
    return found


def _build_parent(run: Run, *, slug: str) -> dict[str, str]:
    return {
        "code": str(run.code),
        "short": format_short_code(run.code),
        "url": reverse("console:run", args=[slug, run.code]),
        "task": make_visible_line(run.task),
    }


def _find_run_id(request: ConsoleRequest, name: str) -> int | None:
    code = parse_code(request.GET.get(name, ""))
    if code is None:
        return None
    found = Run.objects.filter(project_id=request.project.pk, code=code)
    return found.values_list("pk", flat=True).first()
