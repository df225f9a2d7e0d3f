"""The queue's answers: a whole page, a part of the list, or the detail of one review."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.forms.utils import ErrorDict
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from common.ids import parse_code
from console.access import ConsoleRequest
from console.format import format_count, to_milliseconds
from console.forms import ShownNumber, get_limit
from console.fragments import build_partial
from console.layout import get_page_frame
from console.queue import fragments
from console.queue.detail import ReviewDetail, build_detail, load_review
from console.queue.floods import list_flood_notices
from console.queue.row_groups import QueueList, build_edge, build_list
from console.runs.rows import get_live_position
from reviews.models import Review
from reviews.queue.order import SHOWS, Page, Place, Queue, parse_place
from reviews.schemas.fields import Text

# Of all that people write about a review.
NOTE_LIMIT = get_limit(Text)
# Where a form shows what is wrong with a field; the rest is told above it.
_PLACES = {"amend": ("amended", "text"), "abort": ("reason",)}


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionRefusal:
    """What was not done and why; `take_over` is whose claim the next press takes over."""

    status: int
    errors: ErrorDict
    alert: str = ""
    take_over: str = ""

    def to_context(self, action: str = "") -> dict[str, Any]:
        """`action` names the dialog that is open on the screen, if any is."""
        places = _PLACES.get(action, ("text",))
        homeless = [
            str(each)
            for name, found in self.errors.items()
            if name not in places
            for each in found
        ]
        return {
            "errors": self.errors,
            "alert": self.alert or " ".join(homeless),
            "take_over": self.take_over,
        }


def get_review(request: ConsoleRequest, code: UUID) -> Review:
    found = load_review(project_id=request.project.pk, code=code)
    if found is None:
        raise Http404
    return found


def build_detail_for(
    request: ConsoleRequest, review: Review, *, page: int | None = None
) -> ReviewDetail:
    """`page` of a long call is what the screen shows, unless it is to show another."""
    asked = request.POST.get("page") or request.GET.get("page", "")
    return build_detail(
        review,
        slug=request.project.slug,
        viewer=request.user,
        at=timezone.now(),
        page=page or ShownNumber().clean(asked) or 1,
    )


def render_detail(
    request: ConsoleRequest,
    detail: ReviewDetail,
    *,
    refused: ActionRefusal | None = None,
) -> HttpResponse:
    """What was typed is still on the screen, so that it is not sent back."""
    # A dialog says itself what is wrong, as long as it is there.
    dialog = "" if detail.outcome else request.POST.get("action", "")
    context = {
        "detail": detail,
        "slug": request.project.slug,
        "note_limit": NOTE_LIMIT,
        "alert_at": dialog,
        **(refused.to_context(dialog) if refused else {}),
    }
    status = refused.status if refused else 200
    return render(request, "console/queue/_detail.html", context, status=status)


def render_queue(
    request: ConsoleRequest,
    *,
    chosen: Review | None = None,
    refused: ActionRefusal | None = None,
) -> HttpResponse:
    """With the review that was chosen, else with the first of the list."""
    listed = get_list(request, chosen=chosen)
    opened = chosen
    if opened is None and listed.rows:
        opened = get_review(request, UUID(listed.rows[0].code))
    detail = build_detail_for(request, opened) if opened else None
    frame = get_page_frame(request)
    tally, viewer = frame.tally, str(request.user.code)
    context = {
        "page": "queue",
        "since": listed.seq,
        "now": to_milliseconds(timezone.now()),
        "list": listed,
        "show": listed.show,
        "page_frame": frame,
        "tally": tally,
        "floods": list_flood_notices(
            project_id=request.project.pk, slug=request.project.slug, total=tally.total
        ),
        "counts": {name: tally.count_shown(show=name, viewer=viewer) for name in SHOWS},
        "slug": request.project.slug,
        "detail": detail,
        "others": _describe_others(tally.total),
        "place": listed.describe_position(detail.code) if detail else "",
        "open": "detail" if chosen else "list",
        "note_limit": NOTE_LIMIT,
        "typed": request.POST,
        # There is no dialog without a script: the dock says it.
        "alert_at": "",
        **(refused.to_context() if refused else {}),
    }
    status = refused.status if refused else 200
    return render(request, "console/queue/queue.html", context, status=status)


def _describe_others(count: int) -> str:
    """Reviews that the filter hides; empty where there are none."""
    if not count:
        return ""
    return f"{format_count(count, 'other')} {'waits' if count == 1 else 'wait'}."


def get_list(request: ConsoleRequest, *, chosen: Review | None = None) -> QueueList:
    """Where the address says, else where this review stands, else the beginning."""
    queue = _get_queue(request)
    side, place = _get_edge(request)
    seq = get_live_position(project_id=request.project.pk)
    page = _get_page(queue, side, place) if place else Page(reviews=[])
    if not page.reviews:
        page = queue.list_around(chosen)
    return _build_list(request, queue, page, seq=seq)


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
    seq = get_live_position(project_id=request.project.pk)
    listed = _build_list(request, queue, _get_page(queue, side, place), seq=seq)
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


def _build_list(
    request: ConsoleRequest, queue: Queue, page: Page, *, seq: int
) -> QueueList:
    return build_list(
        queue,
        page,
        tally=get_page_frame(request).tally,
        viewer=str(request.user.code),
        slug=request.project.slug,
        at=timezone.now(),
        seq=seq,
    )
