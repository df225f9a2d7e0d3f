"""What is decided: a tab of the queue, and what became of one ruling."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET

from common.errors import Invalid
from console.access import ConsoleRequest
from console.format import to_milliseconds
from console.layout import get_page_frame
from console.queue.address import TAB_NAMES
from console.queue.detail import load_review
from console.queue.memory.delivery import build_delivery
from console.rulings.rows import build_ruling_row
from console.runs.rows import get_live_position
from reviews.past_rulings.filters import RulingSearch, list_ruling_page

PAGE = 50


@require_GET
def decided_list(request: ConsoleRequest) -> HttpResponse:
    """The newest rulings, one's own or everybody's."""
    at, slug = timezone.now(), request.project.slug
    mine = request.GET.get("by") != "all"
    search = RulingSearch(
        project_id=request.project.pk,
        by=(request.user.username,) if mine else (),
    )
    try:
        page = list_ruling_page(search, cursor=request.GET.get("cursor"), limit=PAGE)
    except Invalid:  # a page that is not there: the first one is
        return redirect(request.path)
    frame = get_page_frame(request)
    viewer = str(request.user.code)
    context = {
        "page": "queue",
        "slug": slug,
        "since": get_live_position(project_id=request.project.pk),
        "now": to_milliseconds(at),
        "mine": mine,
        "rows": [build_ruling_row(fact, slug=slug, at=at) for fact in page.rows],
        "newer": page.previous_cursor,
        "older": page.next_cursor,
        "tabs": [
            {
                "show": show,
                "name": name,
                "address": "" if show == "all" else f"?show={show}",
                "count": frame.tally.count_shown(show=show, viewer=viewer),
            }
            for show, name in TAB_NAMES.items()
        ],
    }
    return render(request, "console/queue/memory/decided.html", context)


@require_GET
def delivery(request: ConsoleRequest, code: UUID) -> HttpResponse:
    """What became of a ruling: asked again by a detail until nothing more is to come."""
    found = load_review(project_id=request.project.pk, code=code)
    known = build_delivery(found, timezone.now()) if found else None
    if known is None:
        return HttpResponse(status=204)
    context = {"delivery": known, "slug": request.project.slug, "code": code}
    return render(request, "console/queue/memory/_delivery.html", context)
