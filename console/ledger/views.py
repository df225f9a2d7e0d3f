"""The page of the ledger: is it whole, who has a copy, and how to check it without us."""

from __future__ import annotations

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from common.ids import parse_code
from console.access import ConsoleRequest
from console.ledger.page import (
    EXPORTS,
    build_check,
    build_exports,
    list_checks,
    list_exports,
)
from console.runs.page import find_visible_run
from console.runs.rows import get_live_position
from ledger.models import Run
from ledger.verification.project import start_verification


@require_GET
def ledger(request: ConsoleRequest) -> HttpResponse:
    since = get_live_position(project_id=request.project.pk)
    at = timezone.now()
    slug, project_id = request.project.slug, request.project.pk
    checks = [build_check(job, slug=slug, at=at) for job in list_checks(project_id)]
    before = request.GET.get("before", "")
    known = before.isascii() and before.isdigit() and len(before) < 19
    exports = list_exports(project_id, before=int(before) if known else None)
    context = {
        "page": "ledger",
        "slug": slug,
        "since": since,
        "now": int(at.timestamp() * 1000),
        "here": request.get_full_path(),
        "check": checks[0] if checks else None,
        "earlier": checks[1:],
        "running": bool(checks) and checks[0].running,
        "exports": build_exports(exports[:EXPORTS], slug=slug),
        "older": exports[EXPORTS - 1].pk if len(exports) > EXPORTS else None,
        "first": not known,
        "run": _find_run(request),
    }
    return render(request, "console/ledger/ledger.html", context)


@require_POST
def verify(request: ConsoleRequest) -> HttpResponse:
    """Have the whole ledger checked in the background. Auditors may: a check reads
    everything and changes nothing that it reads."""
    start_verification(request.project, by_id=request.user.pk)
    return redirect("console:ledger", request.project.slug)


def _find_run(request: ConsoleRequest) -> Run | None:
    """The run that the commands are to name."""
    asked = request.GET.get("run")
    if not asked:
        return None
    code = parse_code(asked)
    found = code and find_visible_run(request, code)
    if not found:
        raise Http404
    return found
