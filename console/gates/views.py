"""The page of quality gates: what each asks for, and how often it was passed."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET

from console.access import ConsoleRequest
from console.format import format_count
from console.gates.rows import build_row
from console.runs.rows import get_live_position
from guidance.services import DEFAULT, get_policy_in_force
from reviews.queue.gate_counts import CHECKS_LIMIT, count_gates

PERIODS = (7, 30, 90)
USUAL_DAYS = 30


@require_GET
def gates(request: ConsoleRequest) -> HttpResponse:
    since = get_live_position(project_id=request.project.pk)
    at = timezone.now()
    asked = request.GET.get("days", "")
    days = next((each for each in PERIODS if str(each) == asked), USUAL_DAYS)
    policy = get_policy_in_force(project_id=request.project.pk, name=DEFAULT)
    counts = count_gates(project_id=request.project.pk, policy=policy, days=days, at=at)
    context = {
        "page": "gates",
        "since": since,
        "now": int(at.timestamp() * 1000),
        "slug": request.project.slug,
        "policy": policy,
        "days": days,
        "periods": PERIODS,
        "counts": counts,
        "checked": f"{format_count(counts.totals.checks, 'check')} in {days} days",
        "policy_rows": [build_row(item, days=days) for item in counts.policy],
        "other_rows": [build_row(item, days=days) for item in counts.others],
        "limit": CHECKS_LIMIT,
    }
    return render(request, "console/gates/gates.html", context)
