"""The page of quality gates: what each asks for, and how often it was passed."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET

from accounts.doors import ConsoleRequest, member_door
from guidance.services import DEFAULT, policy_in_force
from ledger.rows import live_position
from reviews.gate_figures import CHECKS_LIMIT, PERIODS, gate_figures

USUAL_DAYS = 30


@require_GET
@member_door
def gates(request: ConsoleRequest) -> HttpResponse:
    since = live_position(project_id=request.project.pk)
    at = timezone.now()
    asked = request.GET.get("days", "")
    days = next((each for each in PERIODS if str(each) == asked), USUAL_DAYS)
    policy = policy_in_force(project_id=request.project.pk, name=DEFAULT)
    context = {
        "page": "gates",
        "since": since,
        "now": int(at.timestamp() * 1000),
        "slug": request.project.slug,
        "policy": policy,
        "days": days,
        "periods": PERIODS,
        "figures": gate_figures(
            project_id=request.project.pk, policy=policy, days=days, at=at
        ),
        "limit": CHECKS_LIMIT,
    }
    return render(request, "reviews/gates.html", context)
