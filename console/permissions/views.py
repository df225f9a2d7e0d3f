"""The page of standing permissions: what need not be asked again, and taking it back."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from accounts.auth import build_person_principal
from console.access import ConsoleRequest, require_member
from console.permissions.rows import (
    ENDED_LIMIT,
    STANDING_LIMIT,
    list_ended_permissions,
    list_standing_permissions,
)
from console.runs.rows import get_live_position
from reviews.models import Permission
from reviews.permissions.standing import submit_revocation


@require_GET
@require_member
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
    }
    return render(request, "console/permissions/permissions.html", context)


@require_POST
@require_member
def revoke(request: ConsoleRequest, code: UUID) -> HttpResponse:
    """Any member may take back; it only means that people are asked again."""
    here = Permission.objects.filter(project_id=request.project.pk, code=code)
    if not here.exists():
        raise Http404
    submit_revocation(person=build_person_principal(request.user), code=str(code))
    address = reverse("console:permissions", args=[request.project.slug])
    return redirect(f"{address}#permission-{code}")
