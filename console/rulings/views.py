"""The page of past rulings. Reading only."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET

from common.errors import Invalid
from console.access import ConsoleRequest
from console.rulings.choices import list_menus, list_periods, list_questions
from console.rulings.figures import (
    build_reviewer_rows,
    build_total_cells,
    build_waiting,
    list_regret_parts,
)
from console.rulings.filters import (
    PageFilters,
    change,
    find_since,
    list_pills,
    read_filters,
)
from console.rulings.rows import build_ruling_row
from console.runs.rows import get_live_position
from reviews.models import RulingFact
from reviews.past_rulings.filters import RulingSearch, filter_rulings, list_ruling_page
from reviews.past_rulings.reviewers import MINIMUM, ReviewerPeriod, count_reviewers

PAGE = 50
_CSV = "/api/v1/rulings.csv"
_SINCE = {
    "24h": "in 24 hours",
    "7d": "in 7 days",
    "30d": "in 30 days",
    "90d": "in 90 days",
    "month": "this month",
    "all": "since the beginning",
}
_LENGTH = timedelta(days=30)


@require_GET
def rulings(request: ConsoleRequest) -> HttpResponse:
    at = timezone.now()
    filters = read_filters(request.GET)
    search = filters.build_search(project_id=request.project.pk, at=at)
    address = reverse("console:rulings", args=[request.project.slug])
    try:
        page = list_ruling_page(
            search,
            sort=filters.sort,
            cursor=request.GET.get("cursor"),
            limit=PAGE,
        )
    except Invalid:  # a page that is not there: the first one is
        return redirect(f"{address}{filters.build_query()}")
    slug, total = request.project.slug, filter_rulings(search).count()
    context = {
        "page": "rulings",
        "slug": slug,
        "since": get_live_position(project_id=request.project.pk),
        "now": int(at.timestamp() * 1000),
        "filters": filters,
        "total": total,
        "when": _SINCE[filters.period],
        "rows": [build_ruling_row(fact, slug=slug, at=at) for fact in page.rows],
        "newer": _build_cursor_query(filters, page.previous_cursor),
        "older": _build_cursor_query(filters, page.next_cursor),
        "pills": list_pills(filters),
        "hidden": [pair for pair in filters.build_pairs() if pair[0] != "q"],
        "menus": list_menus(search, filters),
        "periods": list_periods(filters),
        "questions": list_questions(filters, viewer=request.user.username),
        "sorts": _build_sorts(filters),
        "csv": f"{_CSV}?{filters.build_export_query(slug=slug, at=at)}",
        "clear": PageFilters(period=filters.period).build_query(),
        **_build_figures(request, filters, search, at),
    }
    return render(request, "console/rulings/rulings.html", context)


def _build_figures(
    request: ConsoleRequest, filters: PageFilters, search: RulingSearch, at: datetime
) -> dict[str, Any]:
    """Of everybody for those who lead or audit, else of the viewer alone."""
    alone = not request.role.sees_all
    statistics = count_reviewers(
        ReviewerPeriod(
            project_id=request.project.pk,
            since=_find_start(filters, search, at),
            until=at,
            only=request.user.pk if alone else None,
        )
    )
    viewer_id = request.user.pk
    return {
        "alone": alone,
        "reviewers": build_reviewer_rows(statistics, filters, viewer_id=viewer_id),
        "all": build_total_cells(statistics, filters),
        "parts": list_regret_parts(statistics, filters, viewer=request.user.username),
        "waiting": build_waiting(statistics, slug=request.project.slug, at=at),
        "minimum": MINIMUM,
    }


def _find_start(filters: PageFilters, search: RulingSearch, at: datetime) -> datetime:
    """Where a period has no beginning, that of the first ruling."""
    since = find_since(filters.period, at)
    if since is not None:
        return since
    facts = RulingFact.objects.filter(project_id=search.project_id).order_by("at")
    return facts.values_list("at", flat=True).first() or at - _LENGTH


def _build_cursor_query(filters: PageFilters, cursor: str | None) -> str:
    return filters.build_query(cursor=cursor) if cursor else ""


def _build_sorts(filters: PageFilters) -> dict[str, dict[str, str]]:
    """Of each column that sorts: where it leads, and how it is sorted now."""
    columns = {"at": ("newest", "oldest"), "took": ("slowest", "fastest")}
    sorts = {}
    for column, (falling, rising) in columns.items():
        other = rising if filters.sort == falling else falling
        state = {falling: "descending", rising: "ascending"}.get(filters.sort, "")
        query = change(filters, sort=other).build_query()
        sorts[column] = {"query": query, "state": state}
    return sorts
