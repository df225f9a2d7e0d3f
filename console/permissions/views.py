"""Standing permissions and values that are not secrets: listed, marked, taken back."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import (
    require_GET,
    require_http_methods,
    require_POST,
)

from accounts.auth import build_person_principal
from accounts.models import Role
from common.errors import DomainError, Invalid
from console.access import ConsoleRequest
from console.forms import add_refusal
from console.permissions.exemptions import (
    BlockedCall,
    build_blocked_call,
    list_exemption_rows,
)
from console.permissions.forms import ExemptionForm
from console.permissions.rows import (
    ENDED_LIMIT,
    STANDING_LIMIT,
    list_ended_permissions,
    list_standing_permissions,
)
from console.runs.rows import get_live_position
from reviews.models import Exemption, Permission, ToolCall
from reviews.permissions.exemptions import (
    submit_exemption,
    submit_exemption_revocation,
)
from reviews.permissions.standing import submit_revocation


@require_GET
def permissions(request: ConsoleRequest) -> HttpResponse:
    since = get_live_position(project_id=request.project.pk)
    at = timezone.now()
    project_id, slug = request.project.pk, request.project.slug
    context = {
        "page": "permissions",
        "since": since,
        "now": int(at.timestamp() * 1000),
        "slug": slug,
        "standing": list_standing_permissions(project_id=project_id, slug=slug, at=at),
        "standing_limit": STANDING_LIMIT,
        "ended": list_ended_permissions(project_id=project_id, slug=slug, at=at),
        "ended_limit": ENDED_LIMIT,
        "exemptions": list_exemption_rows(project_id=project_id, slug=slug, at=at),
    }
    return render(request, "console/permissions/permissions.html", context)


@require_POST
def revoke(request: ConsoleRequest, code: UUID) -> HttpResponse:
    """Any reviewer may take back; it only means that people are asked again."""
    here = Permission.objects.filter(project_id=request.project.pk, code=code)
    if not here.exists():
        raise Http404
    submit_revocation(person=build_person_principal(request.user), code=str(code))
    address = reverse("console:permissions", args=[request.project.slug])
    return redirect(f"{address}#permission-{code}")


@require_http_methods(["GET", "HEAD", "POST"])
def exempt(request: ConsoleRequest, code: UUID) -> HttpResponse:
    """A blocked call: a manager marks one of its values as not a secret."""
    here = ToolCall.objects.filter(project_id=request.project.pk, code=code)
    call = here.select_related("run").first()
    blocked = call and build_blocked_call(call, slug=request.project.slug)
    if not blocked:
        raise Http404
    if request.method != "POST":
        return _render_blocked(request, blocked, ExemptionForm(blocked.labels))
    form, status = ExemptionForm(blocked.labels, request.POST), Invalid.status
    if form.is_valid():
        try:
            made = submit_exemption(
                person=build_person_principal(request.user),
                call_code=str(code),
                **form.cleaned_data,
            )
        except DomainError as refusal:
            add_refusal(form, refusal)
            status = refusal.status
        else:
            return _redirect_to_exemption(request, made)
    return _render_blocked(request, blocked, form, status=status)


@require_POST
def revoke_exemption(request: ConsoleRequest, code: UUID) -> HttpResponse:
    """Any reviewer may take back; it only means that calls are blocked again."""
    here = Exemption.objects.filter(project_id=request.project.pk, code=code)
    if not here.exists():
        raise Http404
    person = build_person_principal(request.user)
    ended = submit_exemption_revocation(person=person, code=str(code))
    return _redirect_to_exemption(request, ended)


def _render_blocked(
    request: ConsoleRequest,
    blocked: BlockedCall,
    form: ExemptionForm,
    *,
    status: int = 200,
) -> HttpResponse:
    context = {
        "page": "runs",
        "since": get_live_position(project_id=request.project.pk),
        "now": int(timezone.now().timestamp() * 1000),
        "slug": request.project.slug,
        "blocked": blocked,
        "form": form,
        "manages": request.role.includes(Role.MANAGER),
    }
    return render(request, "console/permissions/exempt.html", context, status=status)


def _redirect_to_exemption(request: ConsoleRequest, row: Exemption) -> HttpResponse:
    address = reverse("console:permissions", args=[request.project.slug])
    return redirect(f"{address}#exemption-{row.code}")
