"""The queue's answers: a whole page, a part of the list, or the detail of one review."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlsplit
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
from console.models import SavedPage
from console.query.pills import build_pills, describe_query
from console.query.terms import LINE_LIMIT
from console.queue import fragments
from console.queue.address import SORT_NAMES, TAB_NAMES, QueueState, read_state
from console.queue.detail import ReviewDetail, build_detail, load_review
from console.queue.floods import build_filling_notices
from console.queue.folds.groups import (
    QueueList,
    build_edge,
    build_list,
    build_list_rows,
)
from console.queue.menus import list_menus
from console.queue.query import build_filter
from console.runs.forms import build_tell_context
from console.runs.rows import get_live_position
from console.saved_views import NAME_LIMIT, list_saved_tabs
from reviews.models import Review
from reviews.queue.order import Page, Queue, list_reviews
from reviews.queue.places import Place, parse_place
from reviews.queue.tally import Tally, count_reviews
from reviews.rulings.reading_proof import store_shown
from reviews.schemas.fields import Text

# Of all that people write about a review.
NOTE_LIMIT = get_limit(Text)
# Folds that a screen may show open at once.
UNFOLDED_LIMIT = 10
# Where a form shows what is wrong with a field; the rest is told above it.
_PLACES = {
    "amend": ("amended", "text"),
    "abort": ("reason",),
    "assign": ("to", "note"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionRefusal:
    """What was not done and why; `take_over` is whose claim the next press takes over."""

    status: int
    errors: ErrorDict
    alert: str = ""
    take_over: str = ""
    asks_password: bool = False

    def to_context(self, action: str = "") -> dict[str, Any]:
        """`action` names the dialog that is open on the screen, if any is."""
        places = _PLACES.get(action, ("text",))
        homeless = [
            str(each)
            for name, found in self.errors.items()
            if name not in places and not name.startswith("amended-")
            for each in found
        ]
        return {
            "errors": self.errors,
            "alert": self.alert or " ".join(homeless),
            "take_over": self.take_over,
            "asks_password": self.asks_password,
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
    sent_from = request.POST.get("dialog") or request.POST.get("action", "")
    is_dialog = not detail.outcome and (sent_from != "amend" or bool(detail.dialog))
    dialog = sent_from if is_dialog else ""
    context = {
        "detail": detail,
        "slug": request.project.slug,
        "note_limit": NOTE_LIMIT,
        **build_tell_context(),
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
    if chosen is not None:
        # A page without a script says nothing later.
        store_shown(
            project_id=request.project.pk, code=chosen.code, user_id=request.user.pk
        )
    frame = get_page_frame(request)
    tally = frame.tally
    context = {
        "page": "queue",
        "since": listed.seq,
        "now": to_milliseconds(timezone.now()),
        "list": listed,
        "show": listed.state.show,
        "page_frame": frame,
        **_build_list_tools(request, listed),
        "tally": tally,
        "filling": build_filling_notices(
            project_id=request.project.pk, slug=request.project.slug, tally=tally
        ),
        "total": tally.total,
        "slug": request.project.slug,
        "detail": detail,
        "others": _describe_others(tally.total),
        "place": listed.describe_position(detail.code) if detail else "",
        "open": "detail" if chosen else "list",
        "note_limit": NOTE_LIMIT,
        **build_tell_context(),
        "typed": request.POST,
        # There is no dialog without a script: the dock says it.
        "alert_at": "",
        **(refused.to_context() if refused else {}),
    }
    status = refused.status if refused else 200
    return render(request, "console/queue/queue.html", context, status=status)


def _build_list_tools(request: ConsoleRequest, listed: QueueList) -> dict[str, Any]:
    """What narrows and orders the list: tabs, query, pills, orders, views that are kept."""
    state, viewer = listed.state, str(request.user.code)
    saved = list_saved_tabs(
        SavedPage.QUEUE,
        here=state.build_query_string(),
        project_id=request.project.pk,
        viewer=request.user,
        role=request.role,
    )
    return {
        "state": state,
        "kept": tuple(parse_qsl(state.build_query_string())),
        "errors": state.query.errors,
        "pills": [
            (pill, state.build_query_string(line=pill.rest))
            for pill in build_pills(state.query)
        ],
        "in_words": describe_query(state.query),
        "menus": list_menus(request.project.pk, state),
        "cleared": state.build_query_string(line=""),
        "line_limit": LINE_LIMIT,
        "name_limit": NAME_LIMIT,
        "tabs": [
            {
                "show": show,
                "name": name,
                "address": state.build_query_string(show=show),
                "count": listed.tally.count_shown(show=show, viewer=viewer),
            }
            for show, name in TAB_NAMES.items()
        ],
        "sorts": [
            (name, state.build_query_string(sort=sort), sort == state.sort)
            for sort, name in SORT_NAMES.items()
        ],
        "fold_address": state.build_query_string(each="" if state.each else "1"),
        "sort_name": SORT_NAMES[state.sort],
        "saved": saved,
        "is_saved": any(view.current for view in saved),
    }


def render_narrowed(request: ConsoleRequest) -> HttpResponse:
    """The list under the query that is being typed. The address says so at once, and keeps
    the review that is open."""
    listed = get_list(request)
    context = {
        "list": listed,
        "show": listed.state.show,
        "slug": request.project.slug,
        **_build_list_tools(request, listed),
    }
    response = render(request, "console/queue/_narrowed.html", context)
    shown = urlsplit(request.htmx.current_url_abs_path or request.path)
    query = listed.state.build_query_string()
    response["HX-Replace-Url"] = f"{shown.path}?{query}" if query else shown.path
    return response


def _describe_others(count: int) -> str:
    """Reviews that the filter hides; empty where there are none."""
    if not count:
        return ""
    return f"{format_count(count, 'other')} {'waits' if count == 1 else 'wait'}."


def get_list(request: ConsoleRequest, *, chosen: Review | None = None) -> QueueList:
    """Where the address says, else where this review stands, else the beginning."""
    state = read_state(request.GET)
    queue = build_queue(request, state)
    side, place = _get_edge(request)
    seq = get_live_position(project_id=request.project.pk)
    page = _get_page(queue, side, place) if place else Page(reviews=[])
    if not page.reviews:
        page = queue.list_around(chosen)
    return _build_list(
        request,
        state,
        queue,
        page,
        seq=seq,
        unfolded=_list_unfolded(queue, request, chosen),
    )


def _list_unfolded(
    queue: Queue, request: ConsoleRequest, chosen: Review | None
) -> list[str]:
    """The folds that the screen shows open, and the one that has the chosen review."""
    keys = request.GET.get("unfolded", "").split(",")[:UNFOLDED_LIMIT]
    fold = queue.folds.get(chosen) if chosen else None
    if chosen is None or fold is None or fold.first == chosen.code:
        return keys
    return [*keys, fold.key]


def render_list_part(request: ConsoleRequest) -> HttpResponse:
    """To a list on screen: the rows beyond one of its edges, or its own part anew."""
    side, place = _get_edge(request)
    if "fold" in request.GET:
        return _render_fold(request, request.GET["fold"])
    if not side:
        code = parse_code(request.GET.get("around", ""))
        project_id = request.project.pk
        around = load_review(project_id=project_id, code=code) if code else None
        return HttpResponse(fragments.render_list(get_list(request, chosen=around)))
    if place is None:
        raise Http404
    state = read_state(request.GET)
    queue = build_queue(request, state)
    if "count" in request.GET:
        count = queue.count_before(place)
        edge = build_edge(state, side, place, count=count, slug=request.project.slug)
        return HttpResponse(_replace_edge(side, fragments.render_edge(edge)))
    seq = get_live_position(project_id=request.project.pk)
    page = _get_page(queue, side, place)
    listed = _build_list(request, state, queue, page, seq=seq)
    edge = listed.after if side == "after" else listed.before
    rows = map(fragments.render_list_row, listed.rows)
    return HttpResponse(
        # The edge first: it says which rows belong on the screen.
        _replace_edge(side, fragments.render_edge(edge))
        + build_partial("#queue", "rowfill", *rows)
    )


def _render_fold(request: ConsoleRequest, key: str) -> HttpResponse:
    """One fold, open or closed as asked; the list, where there is no such fold any more."""
    state = read_state(request.GET)
    queue = build_queue(request, state)
    fold = queue.folds.by_key.get(key)
    if fold is None:
        drawn = fragments.render_list(get_list(request))
        return HttpResponse(build_partial("#queue-list", "outerMorph", drawn))
    seq = get_live_position(project_id=request.project.pk)
    (row,) = build_list_rows(
        queue,
        list_reviews(project_id=request.project.pk, codes=[str(fold.first)]),
        state=state,
        slug=request.project.slug,
        at=timezone.now(),
        seq=seq,
        unfolded=request.GET.get("unfolded", "").split(",")[:UNFOLDED_LIMIT],
    )
    return HttpResponse(fragments.render_list_row(row))


def _replace_edge(side: str, edge: str) -> str:
    return build_partial(f"#queue-{side}", "outerHTML", edge)


def build_queue(request: ConsoleRequest, state: QueueState) -> Queue:
    queue = Queue(
        project_id=request.project.pk,
        viewer_id=request.user.pk,
        show=state.show,
        sort=state.sort,
        wanted=build_filter(state.query, viewer=request.user.username),
    )
    return queue.fold() if state.is_folding else queue


def _get_edge(request: ConsoleRequest) -> tuple[str, Place | None]:
    for side in ("after", "before"):
        if side in request.GET:
            return side, parse_place(request.GET[side])
    return "", None


def _get_page(queue: Queue, side: str, place: Place) -> Page:
    return queue.list_after(place) if side == "after" else queue.list_before(place)


def _count(request: ConsoleRequest, state: QueueState, queue: Queue) -> Tally:
    """Of all that are open, or of those that the query lets in."""
    if not state.is_filtered:
        return get_page_frame(request).tally
    return count_reviews(
        project_id=request.project.pk, wanted=queue.wanted, at=queue.at
    )


def _build_list(
    request: ConsoleRequest,
    state: QueueState,
    queue: Queue,
    page: Page,
    *,
    seq: int,
    unfolded: Collection[str] = (),
) -> QueueList:
    return build_list(
        queue,
        page,
        state=state,
        tally=_count(request, state, queue),
        viewer=str(request.user.code),
        slug=request.project.slug,
        at=timezone.now(),
        seq=seq,
        unfolded=unfolded,
    )
