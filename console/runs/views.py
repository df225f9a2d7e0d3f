"""The page of one run. Reading only."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET

from console.access import ConsoleRequest
from console.forms import get_limit
from console.runs.checks import build_run_checks
from console.runs.entries.paging import (
    build_filter_links,
    count_kinds,
    describe_length,
    list_page,
    parse_filter,
)
from console.runs.forms import ReopenForm, build_tell_context
from console.runs.page import build_page, find_visible_run
from console.runs.proof import Proof, build_last_proof, build_proof
from console.runs.rows import (
    get_live_position,
)
from console.runs.timeline import build_timeline
from ledger.verification.project import get_newest_verification
from reviews.schemas.fields import Reason, ShortText


@require_GET
def run(request: ConsoleRequest, code: UUID) -> HttpResponse:
    return _render_run(request, code)


@require_GET
def verify(request: ConsoleRequest, code: UUID) -> HttpResponse:
    """The panel that says whether its chain is whole; without script the page with it."""
    found = find_visible_run(request, code)
    if found is None:
        raise Http404
    proof = build_proof(found, slug=request.project.slug, at=timezone.now())
    if not request.htmx:
        return _render_run(request, code, proof=proof)
    return render(request, "console/runs/_proof.html", {"proof": proof})


def _render_run(
    request: ConsoleRequest, code: UUID, *, proof: Proof | None = None
) -> HttpResponse:
    since = get_live_position(project_id=request.project.pk)
    at = timezone.now()
    found = find_visible_run(request, code)
    if found is None:
        raise Http404
    wanted = parse_filter(request.GET)
    shown = list_page(found, wanted)
    context = {
        "page": "run",
        "since": since,
        "now": int(at.timestamp() * 1000),
        "slug": request.project.slug,
        "run": build_page(found, slug=request.project.slug, at=at),
        "checks": build_run_checks(found, slug=request.project.slug, at=at),
        "timeline": build_timeline(
            shown.entries, run=found, at=at, slug=request.project.slug
        ),
        "length": describe_length(found),
        "wanted": wanted,
        "filters": build_filter_links(wanted, count_kinds(found)),
        "turned": wanted.build_query(order="" if wanted.oldest_first else "oldest"),
        "shown": shown,
        # Older pages are history: nothing arrives on them.
        "first": wanted.is_live,
        "socket": f"runs/{found.code}/",
        "proof": proof
        or build_last_proof(
            found,
            slug=request.project.slug,
            newest=get_newest_verification(request.project.pk, finished=True),
            at=at,
        ),
        "reopen_form": ReopenForm(),
        "reason_limit": get_limit(Reason),
        "note_limit": get_limit(ShortText),
        **build_tell_context(),
    }
    return render(request, "console/runs/run.html", context)
