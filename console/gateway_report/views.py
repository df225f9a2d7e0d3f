"""The pages of the tool gateway, for managers: rules that asked, and a milder draft."""

from __future__ import annotations

import json
from datetime import timedelta

from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from accounts.auth import build_person_principal
from common.errors import DomainError, Unchanged
from console.access import ConsoleRequest
from console.format import format_count
from console.gateway_report.rows import build_rule_row
from console.runs.rows import get_live_position
from guidance.core.policy.rule_drafts import build_warning_draft
from guidance.models import PolicyVersion
from guidance.selectors import find_version_in_force
from guidance.services import get_policy_in_force
from reviews.policies.backtest.services import Period
from reviews.policies.drafts import create_tried_draft
from reviews.policies.selectors import read_document
from reviews.queue.rule_counts import REVIEWS_LIMIT, count_rules

PERIODS = (7, 30, 90)
USUAL_DAYS = 30


@require_GET
def report(request: ConsoleRequest) -> HttpResponse:
    return _render_report(request)


def _render_report(
    request: ConsoleRequest, *, refusal: str = "", status: int = 200
) -> HttpResponse:
    days, project = _get_days(request.POST or request.GET), request.project
    counts = count_rules(project_id=project.pk, days=days, at=timezone.now())
    policy = get_policy_in_force(project_id=project.pk, name=project.default_policy)
    document = json.loads(PolicyVersion.objects.get(pk=policy.id).document)
    context = {
        **_build_frame(request),
        "refusal": refusal,
        "days": days,
        "periods": PERIODS,
        "asked": f"{format_count(counts.reviews, 'call')} in {days} days",
        "counts": counts,
        "limit": REVIEWS_LIMIT,
        "policy": policy,
        "rows": [build_rule_row(count, document=document) for count in counts.rules],
    }
    return render(request, "console/gateway_report/report.html", context, status=status)


@require_POST
def draft(request: ConsoleRequest) -> HttpResponse:
    """The next version of the policy, in which the rule warns; what it would have changed
    is counted at once. One that is there already is shown."""
    project, rule = request.project, request.POST.get("rule", "")
    name = project.default_policy
    version = find_version_in_force(project_id=project.pk, name=name)
    before = read_document(version) if version else {}
    document = build_warning_draft(before, rule)
    if version is None or document is None or document == before:
        refusal = "No rule of the policy that can be changed has this name."
        return _render_report(request, refusal=refusal, status=422)
    days = _get_days(request.POST)
    counts = count_rules(project_id=project.pk, days=days, at=timezone.now())
    if not any(each.rule == rule and each.is_usually_approved for each in counts.rules):
        refusal = f"People do not approve most of what {rule} asks about."
        return _render_report(request, refusal=refusal, status=422)
    try:
        made = create_tried_draft(
            project=project,
            name=name,
            document=document,
            note=f"{rule} warns instead of asking: people are asked too often.",
            person=build_person_principal(request.user),
            period=Period(since=timezone.now() - timedelta(days=days)),
        )
    except Unchanged as same:
        number = same.extra["version"]
        return redirect("console:policy-version", project.slug, name, number)
    except DomainError as refusal:
        return _render_report(request, refusal=refusal.detail, status=refusal.status)
    return redirect("console:backtest", project.slug, made.backtest.code)


def _get_days(given: QueryDict) -> int:
    asked = given.get("days", "")
    return next((each for each in PERIODS if str(each) == asked), USUAL_DAYS)


def _build_frame(request: ConsoleRequest) -> dict[str, object]:
    return {
        "page": "gateway",
        "since": get_live_position(project_id=request.project.pk),
        "now": int(timezone.now().timestamp() * 1000),
        "slug": request.project.slug,
    }
