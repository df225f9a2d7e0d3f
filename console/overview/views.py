"""The overview: what needs somebody now, and how the period went."""

from __future__ import annotations

from urllib.parse import urlencode

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET

from accounts.models import Role
from console.access import ConsoleRequest
from console.format import format_iso
from console.overview.decisions import SUBJECTS
from console.overview.links import Links
from console.overview.page import build_overview, has_runs
from console.overview.period import PERIODS, read_period
from console.runs.rows import get_live_position


@require_GET
def overview(request: ConsoleRequest) -> HttpResponse:
    at, project = timezone.now(), request.project
    frame = {
        "page": "overview",
        "since": get_live_position(project_id=project.pk),
        "now": int(at.timestamp() * 1000),
        "slug": project.slug,
    }
    if not has_runs(project_id=project.pk):
        return render(request, "console/overview/empty.html", frame)
    manages = request.role.includes(Role.MANAGER)
    period = read_period(request.GET.get("period", ""), at)
    found = build_overview(
        project,
        period=period,
        subject=request.GET.get("of", ""),
        at=at,
        links=Links(slug=project.slug, manages=manages),
    )
    subject = found.decisions.subject
    context = {
        **frame,
        "found": found,
        "counted_until": found.counted_until and format_iso(found.counted_until),
        "manages": manages,
        "address": _build_query(period.name, subject),
        "periods": [
            (words, _build_query(name, subject), name == period.name)
            for name, (words, *_) in PERIODS.items()
        ],
        "subjects": [
            (words, _build_query(period.name, name), name == subject)
            for name, words in SUBJECTS.items()
        ],
    }
    return render(request, "console/overview/overview.html", context)


def _build_query(period: str, subject: str) -> str:
    """The state of the page, all of it in its address; what is usual is left out."""
    query = {"period": period}
    if subject != next(iter(SUBJECTS)):
        query["of"] = subject
    return f"?{urlencode(query)}"
