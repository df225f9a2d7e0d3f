"""The page that compares two runs. All of it is in the address: `a` and `b` are runs by their
id, `b` may be "median"."""

from __future__ import annotations

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET

from common.ids import parse_code
from console.access import ConsoleRequest
from console.runs.compare.figures import (
    build_fact_rows,
    build_figure_rows,
    measure_run,
    measure_usual,
)
from console.runs.compare.side import Side, build_side, build_usual_side, list_others
from console.runs.page import find_visible_run
from console.runs.rows import get_live_position
from ledger.models import Run

MEDIAN = "median"


@require_GET
def compare(request: ConsoleRequest) -> HttpResponse:
    since = get_live_position(project_id=request.project.pk)
    at = timezone.now()
    slug = request.project.slug
    a = _find_run(request, "a")
    asked = request.GET.get("b", "").strip()
    context = {
        "page": "run",
        "since": since,
        "now": int(at.timestamp() * 1000),
        "slug": slug,
    }
    if a is None:
        return render(request, "console/runs/compare.html", context)
    b = None if asked == MEDIAN else _find_run(request, "b")
    context |= {
        "a": build_side(a, slug=slug),
        "others": list_others(a, chosen=b, at=at),
        "chosen": str(b.code) if b else asked,
    }
    if asked == MEDIAN:
        usual, count = measure_usual(a)
        side: Side = build_usual_side(a, count=count)
        rows = build_figure_rows(measure_run(a), usual) if count else []
        context |= {"b": side, "figures": rows, "facts": []}
    elif b:
        context |= {
            "b": build_side(b, slug=slug),
            "figures": build_figure_rows(measure_run(a), measure_run(b)),
            "facts": build_fact_rows(a, b),
        }
    return render(request, "console/runs/compare.html", context)


def _find_run(request: ConsoleRequest, name: str) -> Run | None:
    """None where none is named; one that is not there is not found."""
    asked = request.GET.get(name, "").strip()
    if not asked:
        return None
    code = parse_code(asked)
    found = code and find_visible_run(request, code)
    if not found:
        raise Http404
    return found
