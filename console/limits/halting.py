"""Halt whoever is at a limit, from where that is told."""

from __future__ import annotations

from django import forms
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from accounts.auth import build_person_principal
from accounts.models import Agent
from common.errors import DomainError, Invalid
from console.access import ConsoleRequest
from console.format import format_count
from console.forms import TypedText, add_refusal
from console.limits.rows import PERIOD_NAMES, build_limit_cell
from console.limits.views import answer_done, find_agent, name_owner
from ledger.halts.held_runs import filter_open
from ledger.models import Halt
from ledger.selectors import exclude_system_runs
from reviews.halts.schemas import HaltReason, HaltScopeIn
from reviews.halts.services import submit_halt
from reviews.policies.limits.selectors import ScopeUse, list_scope_use


class LimitHaltForm(forms.Form):
    reason = TypedText(HaltReason, missing="Say why, in a sentence.")


@require_http_methods(["GET", "HEAD", "POST"])
def halt_at_limit(request: ConsoleRequest) -> HttpResponse:
    """The agent or the project whose limit the address names, until a manager releases it."""
    scope = str(request.GET.get("scope", "project_day"))
    agent = find_agent(request, scope)
    if request.method != "POST":
        if not request.htmx:  # a page of its own asks the same
            return redirect("console:halt-new", request.project.slug)
        uses = list_scope_use(request.project, scope, agent=agent, at=timezone.now())
        form = LimitHaltForm(initial={"reason": _describe_use(uses)})
        return _render(request, form, agent)
    form, status = LimitHaltForm(request.POST), Invalid.status
    if form.is_valid():
        named = {"agent": agent.name} if agent else {"project": True}
        try:
            submit_halt(
                person=build_person_principal(request.user),
                project_id=request.project.pk,
                scope=HaltScopeIn.model_validate(named),
                reason=form.cleaned_data["reason"],
            )
        except DomainError as refusal:
            add_refusal(form, refusal)
            status = refusal.status
        else:
            if request.htmx:
                return answer_done()
            return redirect("console:halts", request.project.slug)
    return _render(request, form, agent, status=status)


def _describe_use(uses: list[ScopeUse]) -> str:
    """Describe the fullest part, as "90.2k of 80k tokens used today"; empty without any."""
    parts = [(part, use) for use in uses for part in use.parts]
    limited = [each for each in parts if each[0].share is not None]
    if not limited:
        return ""
    part, use = max(limited, key=lambda each: each[0].share or 0)
    cell = build_limit_cell(part)
    period = PERIOD_NAMES[use.scope].lower()
    return f"{cell.name} {period}: {cell.used} of {cell.limit} used"


def _render(
    request: ConsoleRequest,
    form: LimitHaltForm,
    agent: Agent | None,
    *,
    status: int = 200,
) -> HttpResponse:
    held = filter_open(Halt(project_id=request.project.pk, agent=agent))
    count = exclude_system_runs(held).count()
    context = {
        "form": form,
        "address": request.get_full_path(),
        "whose": name_owner(agent),
        "is_agent": agent is not None,
        "held": format_count(count, "open run") if count else "",
        "stop": "stops where it is" if count == 1 else "stop where they are",
    }
    return render(request, "console/limits/_halt_dialog.html", context, status=status)
