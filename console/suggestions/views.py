"""The pages of a policy's suggestions: look through history, see why, make a draft."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from accounts.auth import build_person_principal
from common.errors import DomainError, Invalid, NotFound, Unchanged
from console.access import ConsoleRequest
from console.format import format_count
from console.policies.views import build_frame, find_or_404
from console.suggestions.chart import HIGH
from console.suggestions.page import (
    build_limit_card,
    build_suggestion_page,
    list_stretches,
)
from guidance.core.suggestions.limits import LIMITS
from reviews.policies.suggestions.selectors import get_suggestions
from reviews.policies.suggestions.services import create_draft, start_search


@require_GET
@find_or_404
def suggestions(request: ConsoleRequest, name: str) -> HttpResponse:
    return _render_suggestions(request, name)


def _render_suggestions(
    request: ConsoleRequest, name: str, *, refusal: str = "", status: int = 200
) -> HttpResponse:
    at = timezone.now()
    context = {
        **build_frame(request, at),
        "name": name,
        "found": build_suggestion_page(get_suggestions(request.project, name), at),
        "refusal": refusal,
    }
    template = "console/suggestions/suggestions.html"
    return render(request, template, context, status=status)


@require_GET
@find_or_404
def suggestion(request: ConsoleRequest, name: str, setting: str) -> HttpResponse:
    """The trade-off of one limit; the list where it was not looked at yet."""
    if all(limit.setting != setting for limit in LIMITS):
        raise NotFound
    at, found = timezone.now(), get_suggestions(request.project, name)
    try:
        item = found.get_limit(setting)
    except NotFound:
        return _render_suggestions(request, name)
    context = {
        **build_frame(request, at),
        "name": name,
        "stale": found.stale,
        "limit": build_limit_card(item, found, height=HIGH),
        "rows": list_stretches(item, request.project.slug),
        "changed": format_count(
            item["decisions_changed"], "decision on steps", "decisions on steps"
        ),
    }
    return render(request, "console/suggestions/suggestion.html", context)


@require_POST
@find_or_404
def search(request: ConsoleRequest, name: str) -> HttpResponse:
    try:
        start_search(request.project, name)
    except Invalid as refused:
        return _render_suggestions(
            request, name, refusal=refused.detail, status=refused.status
        )
    return redirect("console:policy-suggestions", request.project.slug, name)


@require_POST
@find_or_404
def draft(request: ConsoleRequest, name: str) -> HttpResponse:
    """One change as the next version, and its backtest; one that is there is shown."""
    project = request.project
    found = get_suggestions(project, name)
    try:
        made = create_draft(
            found,
            setting=request.POST.get("setting", ""),
            person=build_person_principal(request.user),
        )
    except NotFound:
        refusal = "That is not suggested any more: look at what is."
        return _render_suggestions(request, name, refusal=refusal, status=422)
    except Unchanged as same:
        number = same.extra["version"]
        return redirect("console:policy-version", project.slug, name, number)
    except DomainError as refused:
        return _render_suggestions(
            request, name, refusal=refused.detail, status=refused.status
        )
    return redirect("console:backtest", project.slug, made.backtest.code)
