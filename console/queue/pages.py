"""The part of the queue that a request asks for: of a whole page, or further rows."""

from __future__ import annotations

from django.http import Http404, HttpResponse
from django.utils import timezone

from common.ids import parse_code
from console.access import ConsoleRequest
from console.fragments import build_partial
from console.layout import shell_of
from console.queue import fragments
from console.queue.detail import load_review
from console.queue.row_groups import QueueList, build_edge, build_list
from console.runs.rows import live_position
from reviews.models import Review
from reviews.queue.order import SHOWS, Page, Place, Queue, parse_place


def get_list(request: ConsoleRequest, *, chosen: Review | None = None) -> QueueList:
    """Where the address says, else where this review stands, else the beginning."""
    queue = _get_queue(request)
    side, place = _get_edge(request)
    seq = live_position(project_id=request.project.pk)
    page = _get_page(queue, side, place) if place else Page(reviews=[])
    if not page.reviews:
        page = queue.list_around(chosen)
    return _build(request, queue, page, seq=seq)


def render_list_part(request: ConsoleRequest) -> HttpResponse:
    """To a list on screen: the rows beyond one of its edges, or its own part anew."""
    side, place = _get_edge(request)
    if not side:
        code = parse_code(request.GET.get("around", ""))
        project_id = request.project.pk
        around = load_review(project_id=project_id, code=code) if code else None
        return HttpResponse(fragments.render_list(get_list(request, chosen=around)))
    if place is None:
        raise Http404
    queue = _get_queue(request)
    if "count" in request.GET:
        count = queue.count_before(place)
        edge = build_edge(queue, side, place, count=count, slug=request.project.slug)
        return HttpResponse(_replace_edge(side, fragments.render_edge(edge)))
    seq = live_position(project_id=request.project.pk)
    listed = _build(request, queue, _get_page(queue, side, place), seq=seq)
    edge = listed.after if side == "after" else listed.before
    rows = map(fragments.render_row, listed.rows)
    return HttpResponse(
        # The edge first: it says which rows belong on the screen.
        _replace_edge(side, fragments.render_edge(edge))
        + build_partial("#queue", "rowfill", *rows)
    )


def _replace_edge(side: str, edge: str) -> str:
    return build_partial(f"#queue-{side}", "outerHTML", edge)


def _get_queue(request: ConsoleRequest) -> Queue:
    show = request.GET.get("show", "all")
    return Queue(
        project_id=request.project.pk,
        viewer_id=request.user.pk,
        show=show if show in SHOWS else "all",
    )


def _get_edge(request: ConsoleRequest) -> tuple[str, Place | None]:
    for side in ("after", "before"):
        if side in request.GET:
            return side, parse_place(request.GET[side])
    return "", None


def _get_page(queue: Queue, side: str, place: Place) -> Page:
    return queue.list_after(place) if side == "after" else queue.list_before(place)


def _build(request: ConsoleRequest, queue: Queue, page: Page, *, seq: int) -> QueueList:
    return build_list(
        queue,
        page,
        tally=shell_of(request).tally,
        viewer=str(request.user.code),
        slug=request.project.slug,
        at=timezone.now(),
        seq=seq,
    )
