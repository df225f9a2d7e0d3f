"""The pages that read policies: the list, one version in words, and two compared."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import wraps
from typing import Concatenate, ParamSpec

from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET

from accounts.models import Role
from common.errors import NotFound
from console.access import ConsoleRequest
from console.policies.changes import build_text_diff, list_changes
from console.policies.forms import ShadowForm
from console.policies.page import build_policy_page, build_rail
from console.policies.rows import list_policy_rows
from console.runs.rows import get_live_position
from guidance.models import PolicyVersion
from guidance.selectors import find_version_in_force
from reviews.policies.acts import Outcome
from reviews.policies.selectors import get_version, list_versions, read_document

P = ParamSpec("P")


def find_or_404(
    view: Callable[Concatenate[ConsoleRequest, P], HttpResponse],
) -> Callable[Concatenate[ConsoleRequest, P], HttpResponse]:
    """A policy or a version that is not there is a page that is not there."""

    @wraps(view)
    def wrapper(
        request: ConsoleRequest, /, *args: P.args, **kwargs: P.kwargs
    ) -> HttpResponse:
        try:
            return view(request, *args, **kwargs)
        except NotFound:
            raise Http404 from None

    return wrapper


@require_GET
def policies(request: ConsoleRequest) -> HttpResponse:
    at = timezone.now()
    context = {
        **build_frame(request, at),
        "rows": list_policy_rows(request.project, at),
    }
    return render(request, "console/policies/policies.html", context)


@require_GET
@find_or_404
def policy(request: ConsoleRequest, name: str) -> HttpResponse:
    """The version in force; the newest draft where there is none."""
    active = find_version_in_force(project_id=request.project.pk, name=name)
    version = active or list_versions(request.project, name)[0]
    return render_version(request, version)


@require_GET
@find_or_404
def policy_version(request: ConsoleRequest, name: str, number: int) -> HttpResponse:
    return render_version(request, get_version(request.project, name, number))


def render_version(
    request: ConsoleRequest,
    version: PolicyVersion,
    *,
    refusal: str = "",
    status: int = 200,
) -> HttpResponse:
    """`refusal` is why it was not published; what was typed as a note is kept."""
    at = timezone.now()
    page = build_policy_page(request.project, version, at)
    frame = build_frame(request, at)
    editor = reverse("console:policy-edit", args=[request.project.slug, version.name])
    context = {
        **frame,
        "name": version.name,
        "edit": f"{editor}?version={version.version}" if frame["manages"] else "",
        "policy": page,
        "refusal": refusal,
        "note": request.POST.get("note", ""),
        "applied": "apply_to_running" in request.POST,
        "periods": ShadowForm.PERIODS,
    }
    return render(request, "console/policies/policy.html", context, status=status)


@require_GET
@find_or_404
def compare(request: ConsoleRequest, name: str) -> HttpResponse:
    """Two versions; the newest and the one before it unless others are chosen."""
    at = timezone.now()
    rail = build_rail(request.project, name, at)
    last = read_number(request.GET, "to") or rail.newest
    first = read_number(request.GET, "from") or max(last - 1, 1)
    before, after = (
        read_document(get_version(request.project, name, number))
        for number in (first, last)
    )
    context = {
        **build_frame(request, at),
        "name": name,
        "rail": rail,
        "first": first,
        "last": last,
        "numbers": range(rail.newest, 0, -1),
        "changes": list_changes(before, after),
        "diff": build_text_diff(before, after, name=name),
    }
    return render(request, "console/policies/compare.html", context)


def redirect_after(
    request: ConsoleRequest, name: str, outcome: Outcome
) -> HttpResponse:
    """To what has come of an act: the version, or the review that a second manager has
    to rule on first."""
    slug = request.project.slug
    if outcome.review:
        return redirect("console:review", slug, outcome.review)
    if outcome.activation:
        return redirect("console:policy", slug, name)
    return redirect("console:policy-version", slug, name, outcome.version.version)


def read_number(given: QueryDict, name: str) -> int | None:
    text = str(given.get(name, ""))
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


def build_frame(request: ConsoleRequest, at: datetime) -> dict[str, object]:
    return {
        "page": "policies",
        "since": get_live_position(project_id=request.project.pk),
        "now": int(at.timestamp() * 1000),
        "slug": request.project.slug,
        "manages": request.role.includes(Role.MANAGER),
    }
