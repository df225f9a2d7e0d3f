"""The pages of the tool gateway, for managers: rules that asked, and a milder draft."""

from __future__ import annotations

import json

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET

from console.access import ConsoleRequest, require_manager
from console.format import format_count
from console.gateway_report.rows import build_draft_page, build_rule_row
from console.runs.rows import get_live_position
from guidance.models import PolicyVersion
from guidance.services import DEFAULT, get_policy_in_force
from reviews.rule_report.backtest import CALLS_LIMIT
from reviews.rule_report.counts import REVIEWS_LIMIT, count_rules
from reviews.rule_report.drafts import build_rule_draft

PERIODS = (7, 30, 90)
USUAL_DAYS = 30


@require_GET
@require_manager
def report(request: ConsoleRequest) -> HttpResponse:
    return _render_report(request)


def _render_report(request: ConsoleRequest) -> HttpResponse:
    days, project = _get_days(request), request.project
    counts = count_rules(project_id=project.pk, days=days, at=timezone.now())
    policy = get_policy_in_force(project_id=project.pk, name=DEFAULT)
    document = json.loads(PolicyVersion.objects.get(pk=policy.id).document)
    context = {
        **_build_frame(request),
        "days": days,
        "periods": PERIODS,
        "asked": f"{format_count(counts.reviews, 'call')} in {days} days",
        "counts": counts,
        "limit": REVIEWS_LIMIT,
        "policy": policy,
        "rows": [
            build_rule_row(count, slug=project.slug, days=days, document=document)
            for count in counts.rules
        ],
    }
    return render(request, "console/gateway_report/report.html", context)


@require_GET
@require_manager
def draft(request: ConsoleRequest) -> HttpResponse:
    """The changed policy to copy, and what it would have changed; without a rule the
    list to choose one from."""
    days, project = _get_days(request), request.project
    rule = request.GET.get("rule", "")
    if not rule:
        return _render_report(request)
    found = build_rule_draft(
        project_id=project.pk, rule=rule, days=days, at=timezone.now()
    )
    if found is None:
        raise Http404
    context = {
        **_build_frame(request),
        "days": days,
        "limit": CALLS_LIMIT,
        "draft": build_draft_page(found, slug=project.slug),
    }
    return render(request, "console/gateway_report/draft.html", context)


def _get_days(request: ConsoleRequest) -> int:
    asked = request.GET.get("days", "")
    return next((each for each in PERIODS if str(each) == asked), USUAL_DAYS)


def _build_frame(request: ConsoleRequest) -> dict[str, object]:
    return {
        "page": "gateway",
        "since": get_live_position(project_id=request.project.pk),
        "now": int(timezone.now().timestamp() * 1000),
        "slug": request.project.slug,
    }
