"""The page of assignments: which runs get which policy, tried on the last week."""

from __future__ import annotations

from collections.abc import Sequence

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from accounts.auth import build_person_principal
from accounts.selectors import list_agents
from common.errors import DomainError, StaleVersion
from console.access import ConsoleRequest
from console.policies.assignment_rows import (
    INTENTS,
    CheckedRows,
    Row,
    check_rows,
    list_stored_rows,
    read_rows,
)
from console.policies.views import build_frame, find_or_404
from guidance.core.policy.assignments import Assignment
from guidance.selectors import load_policy_choice
from guidance.services import DEFAULT, get_policy_in_force
from reviews.policies.assignments import hash_assignments, replace_assignments


@require_http_methods(["GET", "POST"])
@find_or_404
def assignments(request: ConsoleRequest) -> HttpResponse:
    """Everybody reads them. Managers change the list as a whole, or nothing of it."""
    choice = load_policy_choice(project_id=request.project.pk)
    if request.method == "GET":
        return _render(request, list_stored_rows(choice.assignments))
    rows = read_rows(request.POST)
    if request.POST.get("do") != "save":
        return _render(request, rows)
    checked = check_rows(request.project.pk, request.project.slug, rows)
    if checked.assignments is None:
        return _render(request, rows, checked=checked, status=422)
    try:
        replace_assignments(
            project_id=request.project.pk,
            by=build_person_principal(request.user),
            assignments=checked.assignments,
            seen=request.POST.get("seen", ""),
        )
    except StaleVersion:
        return _render(request, rows, checked=checked, changed=True, status=409)
    except DomainError as refusal:
        return _render(request, rows, refusal=refusal.detail, status=refusal.status)
    return redirect("console:assignments", request.project.slug)


def _render(
    request: ConsoleRequest,
    rows: Sequence[Row],
    *,
    checked: CheckedRows | None = None,
    refusal: str = "",
    changed: bool = False,
    status: int = 200,
) -> HttpResponse:
    """With all that was typed. Whoever has been shown what is stored now has seen it."""
    project = request.project
    get_policy_in_force(project_id=project.pk, name=DEFAULT)  # made where it is missing
    choice = load_policy_choice(project_id=project.pk)
    stored: Sequence[Assignment] = choice.assignments
    moved = changed or request.method == "GET"
    seen = hash_assignments(stored) if moved else request.POST.get("seen", "")
    context = {
        **build_frame(request, timezone.now()),
        "checked": checked or check_rows(project.pk, project.slug, rows),
        "stored": list_stored_rows(stored) if changed else None,
        "refusal": refusal,
        "seen": seen,
        "typed": request.method == "POST",
        "intents": INTENTS,
        "agents": list_agents(project_id=project.pk).values_list("name", flat=True),
        "offered": list(choice.active),
        "agents_choose": choice.agents_choose,
        "empty": Row(values={}),
    }
    template = "console/policies/assignments.html"
    return render(request, template, context, status=status)
