"""The page of a draft in shadow: started, watched as it happens, stopped."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from accounts.auth import build_person_principal
from common.errors import DomainError
from console.access import ConsoleRequest
from console.forms import get_first_error
from console.policies.forms import ShadowForm
from console.policies.shadow.page import FILTERS, build_shadow_page
from console.policies.views import build_frame, find_or_404, render_version
from guidance.selectors import find_version_in_force
from reviews.models import PolicyShadow
from reviews.policies.selectors import get_version
from reviews.policies.shadow.proposals import create_draft
from reviews.policies.shadow.selectors import get_shadow
from reviews.policies.shadow.services import start_shadow, stop_shadow


@require_GET
@find_or_404
def shadow(request: ConsoleRequest, code: UUID) -> HttpResponse:
    return _render(request, get_shadow(request.project, str(code)))


@require_POST
@find_or_404
def start(request: ConsoleRequest, name: str, number: int) -> HttpResponse:
    """Let a stored version run beside the one in force."""
    version = get_version(request.project, name, number)
    form = ShadowForm(request.POST)
    if not form.is_valid():
        refusal = get_first_error(form)
        return render_version(request, version, refusal=refusal, status=422)
    try:
        started = start_shadow(
            project_id=request.project.pk,
            name=name,
            number=number,
            lasts=timedelta(hours=form.cleaned_data["hours"]),
            by=build_person_principal(request.user),
            note=form.cleaned_data["note"],
        )
    except DomainError as refused:
        return render_version(
            request, version, refusal=refused.detail, status=refused.status
        )
    return redirect("console:shadow", request.project.slug, started.code)


@require_POST
@find_or_404
def stop(request: ConsoleRequest, code: UUID) -> HttpResponse:
    """What was seen stays."""
    found = get_shadow(request.project, str(code))
    try:
        stop_shadow(found, by=build_person_principal(request.user))
    except DomainError as refused:
        return _render(request, found, refusal=refused.detail, status=refused.status)
    return redirect("console:shadow", request.project.slug, code)


@require_POST
@find_or_404
def draft(request: ConsoleRequest, code: UUID) -> HttpResponse:
    """What was seen becomes the next version, a draft that binds nobody."""
    found = get_shadow(request.project, str(code))
    try:
        made = create_draft(
            found,
            keys=request.POST.getlist("proposal"),
            person=build_person_principal(request.user),
        )
    except DomainError as refused:
        return _render(request, found, refusal=refused.detail, status=refused.status)
    return redirect(
        "console:policy-version", request.project.slug, made.name, made.version
    )


def _render(
    request: ConsoleRequest,
    found: PolicyShadow,
    *,
    refusal: str = "",
    status: int = 200,
) -> HttpResponse:
    at = timezone.now()
    chosen = {
        name: request.GET[name] for name in FILTERS if request.GET.get(name, "").strip()
    }
    active = find_version_in_force(
        project_id=request.project.pk, name=found.policy.name
    )
    context = {
        **build_frame(request, at),
        "result": build_shadow_page(
            found, slug=request.project.slug, chosen=chosen, at=at
        ),
        "in_force": active.version if active else 0,
        "refusal": refusal,
        "here": request.get_full_path(),
    }
    return render(request, "console/policies/shadow.html", context, status=status)
