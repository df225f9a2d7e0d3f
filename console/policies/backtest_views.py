"""The page of a backtest: its result while it grows, and what to do with the draft."""

from __future__ import annotations

import json
from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from accounts.auth import build_person_principal
from common.errors import DomainError
from console.access import ConsoleRequest, require_manager, require_member
from console.forms import get_first_error
from console.policies.backtest_page import FILTERS, build_backtest_page
from console.policies.forms import NoteForm
from console.policies.views import build_frame, redirect_after
from guidance.selectors import find_version_in_force
from reviews.models import Backtest
from reviews.policies.backtest.services import cancel_backtest
from reviews.policies.services import activate_version, create_version


@require_GET
@require_member
def backtest(request: ConsoleRequest, code: UUID) -> HttpResponse:
    return _render(request, _find(request, code))


@require_POST
@require_manager
def cancel(request: ConsoleRequest, code: UUID) -> HttpResponse:
    """What was found so far stays."""
    cancel_backtest(_find(request, code))
    return redirect("console:backtest", request.project.slug, code)


@require_POST
@require_manager
def publish(request: ConsoleRequest, code: UUID) -> HttpResponse:
    """Put in force what was tried: a stored version, or the draft as the next one."""
    found = _find(request, code)
    form = NoteForm(request.POST)
    if not form.is_valid():
        return _render(request, found, refusal=get_first_error(form), status=422)
    given = {
        "project_id": request.project.pk,
        "name": found.policy,
        "note": form.cleaned_data["note"],
        "apply_to_running": form.cleaned_data["apply_to_running"],
        "based_on": form.cleaned_data["in_force"],
    }
    person = build_person_principal(request.user)
    try:
        if found.version is not None:
            outcome = activate_version(number=found.version, by=person, **given)
        else:
            document = json.loads(found.document)
            outcome = create_version(
                document=document, author=person, activate=True, **given
            )
    except DomainError as refusal:
        return _render(request, found, refusal=refusal.detail, status=refusal.status)
    return redirect_after(request, found.policy, outcome)


def _find(request: ConsoleRequest, code: UUID) -> Backtest:
    rows = Backtest.objects.select_related("created_by", "agent")
    found = rows.filter(project=request.project, code=code).first()
    if found is None:
        raise Http404
    return found


def _render(
    request: ConsoleRequest, found: Backtest, *, refusal: str = "", status: int = 200
) -> HttpResponse:
    at = timezone.now()
    chosen = {
        name: request.GET[name] for name in FILTERS if request.GET.get(name, "").strip()
    }
    slug = request.project.slug
    active = find_version_in_force(project_id=request.project.pk, name=found.policy)
    context = {
        **build_frame(request, at),
        "result": build_backtest_page(found, slug=slug, chosen=chosen, at=at),
        "in_force": active.version if active else 0,
        "refusal": refusal,
        "note": request.POST.get("note", ""),
        "applied": "apply_to_running" in request.POST,
        "here": request.get_full_path(),
        "period": (found.since, found.until),
    }
    return render(request, "console/policies/backtest.html", context, status=status)
