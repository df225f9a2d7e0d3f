"""The list of runs. Reading only."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET

from common.ids import parse_code
from common.responses import build_csv_headers
from console.access import ConsoleRequest
from console.format import format_compact, format_money, format_span
from console.models import SavedPage
from console.query.pills import build_pills, describe_query
from console.query.terms import LINE_LIMIT
from console.runs.list.address import COLUMNS, ListState, read_state
from console.runs.list.rows import build_run_rows
from console.runs.list.tabs import build_tabs, count_statuses
from console.runs.query.fields import FIELDS
from console.runs.query.parse import build_filter
from console.runs.rows import get_live_position
from console.saved_views import NAME_LIMIT, list_saved_tabs
from ledger.models import Run
from ledger.run_list.csv_export import read_csv
from ledger.run_list.paging import NEWEST_FIRST, SORTS, Sort, list_page, parse_cursor
from ledger.run_list.scope import Scope
from ledger.run_list.totals import Totals, count_totals
from ledger.writer.db_threads import stream_rows

PAGE = 50
RELATED = ("agent", "outcome")


@require_GET
def runs(request: ConsoleRequest) -> HttpResponse:
    project_id, slug = request.project.pk, request.project.slug
    since = get_live_position(project_id=project_id)
    at = timezone.now()
    _check_parent(request)
    state = read_state(request.GET)
    scope = _build_scope(request)
    wanted = build_filter(state.query, now=at)
    cursor = request.GET.get("cursor", "")
    position = parse_cursor(cursor, scope=scope, sort=state.sort)
    page = list_page(
        scope=scope,
        wanted=wanted,
        sort=state.sort,
        position=position,
        limit=PAGE,
        related=RELATED,
    )
    if position is not None and position.backwards and page.previous_cursor is None:
        # The first page, at its own address: that one is live.
        return redirect(f"{reverse('console:runs', args=[slug])}{_ask(state)}")
    counts = count_statuses(project_id=project_id)
    totals = count_totals(scope=scope, wanted=wanted)
    single = _find_single_status(state)
    first = position is None and _is_newest_first(state)
    context = {
        "page": "runs",
        "since": since,
        "now": int(at.timestamp() * 1000),
        "slug": slug,
        "rows": build_run_rows(page.runs, slug=slug, at=at, seq=since),
        "state": state,
        "kept": (
            ("q", state.line),
            ("sort", "" if _is_newest_first(state) else str(state.sort)),
            ("columns", state.write_columns()),
        ),
        "errors": state.query.errors,
        "pills": [
            (pill, state.build_query_string(line=pill.rest))
            for pill in build_pills(state.query)
        ],
        "in_words": describe_query(state.query),
        "examples": [field.example for field in FIELDS.values()],
        "tabs": build_tabs(state, counts=counts),
        "name_limit": NAME_LIMIT,
        "saved": list_saved_tabs(
            SavedPage.RUNS,
            here=state.build_query_string(),
            project_id=project_id,
            viewer=request.user,
            role=request.role,
        ),
        "heads": _build_heads(state),
        "hidden": " ".join(name for name in COLUMNS if name not in state.columns),
        "columns": [
            (name, head, name in state.columns) for name, head in COLUMNS.items()
        ],
        "every": sum(counts.values()),
        "totals": _build_totals(totals),
        "found": totals.runs,
        "line_limit": LINE_LIMIT,
        "csv": state.build_query_string(),
        "words": ("Newer", "Older") if _is_newest_first(state) else ("Back", "Next"),
        "older": page.next_cursor and state.build_query_string(cursor=page.next_cursor),
        "newer": page.previous_cursor
        and state.build_query_string(cursor=page.previous_cursor),
        "only": single,
        # Runs that begin now have their place only on the first page of these lists.
        "first": first and (not state.query.terms or bool(single)),
    }
    return render(request, "console/runs/list/runs.html", context)


@require_GET
def runs_csv(request: ConsoleRequest) -> HttpResponse:
    """What the list shows, all of its pages; or the runs that are named."""
    state = read_state(request.GET)
    codes = tuple(filter(None, map(parse_code, request.GET.getlist("run")[:PAGE])))
    wanted = build_filter(state.query, now=timezone.now())
    read = partial(
        read_csv,
        scope=_build_scope(request),
        wanted=replace(wanted, codes=codes),
        sort=state.sort,
    )
    # Django's streams are no HttpResponse, though they are sent as such.
    return stream_rows(read, headers=build_csv_headers("runs.csv"))  # type: ignore[return-value]


def _build_scope(request: ConsoleRequest) -> Scope:
    here = (request.project.pk,)
    sees_all = request.role.sees_all
    return Scope(project_ids=here, administration_of=here if sees_all else ())


def _check_parent(request: ConsoleRequest) -> None:
    """An address that names a run is refused where there is none."""
    given = request.GET.get("parent")
    if not given:
        return
    code = parse_code(given)
    runs = Run.objects.filter(project_id=request.project.pk)
    if code is None or not runs.filter(code=code).exists():
        raise Http404


def _is_newest_first(state: ListState) -> bool:
    return state.sort == NEWEST_FIRST


def _ask(state: ListState) -> str:
    asked = state.build_query_string()
    return f"?{asked}" if asked else ""


def _find_single_status(state: ListState) -> str:
    """The one status that all of the query asks for, if that is all it does."""
    terms = state.query.terms
    if len(terms) != 1 or terms[0].name != "status":
        return ""
    statuses = {status for group in terms[0].values for status in group}
    return statuses.pop() if len(statuses) == 1 else ""


def _build_heads(state: ListState) -> list[dict[str, str]]:
    """Each head that sorts: the same again turns the order around."""
    heads = []
    for key in SORTS:
        current = state.sort.key == key
        turned = Sort(key=key, descending=not (current and state.sort.descending))
        heads.append(
            {
                "key": key,
                "name": COLUMNS[key],
                "address": state.build_query_string(sort=turned),
                "sorted": ""
                if not current
                else "descending"
                if state.sort.descending
                else "ascending",
            }
        )
    order = list(COLUMNS)
    return sorted(heads, key=lambda head: order.index(head["key"]))


def _build_totals(totals: Totals) -> list[tuple[str, str, str]]:
    """What stands before a figure, the figure, what stands behind it."""
    shown = [
        ("", f"{totals.runs:,}", "run" if totals.runs == 1 else "runs"),
        ("", f"{totals.steps:,}", "step" if totals.steps == 1 else "steps"),
        ("", format_compact(totals.tokens), "tokens"),
        ("", format_money(totals.cost_micros), ""),
    ]
    if totals.median_ms is not None:
        ended = "ended run" if totals.ended == 1 else f"{totals.ended:,} ended"
        shown.append(("", format_span(totals.median_ms), f"median of {ended}"))
    if totals.judged:
        judged = f"{totals.accepted:,} of {totals.judged:,}"
        shown.append(("accepted", judged, ""))
    return shown
