"""What people do on the page of a run: reopen it, acknowledge a warning."""

from __future__ import annotations

from decimal import Decimal
from typing import Any
from uuid import UUID

from django import forms
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST
from pydantic import ValidationError

from accounts.auth import person_of
from common.errors import DomainError, Invalid
from console.access import ConsoleRequest, member_door
from console.runs.checks import run_checks_of
from console.runs.page import run_loaded
from ledger.models import Run
from reviews import services
from reviews.schemas.fields import BUDGET_MAX
from reviews.schemas.reviews import BudgetIn

_MICROS = 1_000_000
_MINUTE_MS = 60_000


class ReopenForm(forms.Form):
    """Why a stopped run may go on, and what is added to its limits."""

    reason = forms.CharField(
        max_length=4_000, error_messages={"required": "Say why it may continue."}
    )
    tokens = forms.IntegerField(required=False, min_value=1, max_value=BUDGET_MAX)
    tool_calls = forms.IntegerField(required=False, min_value=1, max_value=BUDGET_MAX)
    minutes = forms.IntegerField(
        label="Time", required=False, min_value=1, max_value=BUDGET_MAX // _MINUTE_MS
    )
    cost = forms.DecimalField(
        required=False, min_value=Decimal("0.01"), max_digits=9, decimal_places=2
    )

    def budget_over(self, run: Run) -> BudgetIn:
        """The new limits. What has none needs no more."""
        more = self.cleaned_data
        limits: dict[str, Any] = {}
        for name, limit, added in (
            ("tokens", run.tokens_limit, more["tokens"]),
            ("tool_calls", run.tool_calls_limit, more["tool_calls"]),
            ("time_ms", run.time_ms_limit, (more["minutes"] or 0) * _MINUTE_MS),
        ):
            if added and limit is not None:
                limits[name] = limit + added
        if more["cost"] and run.cost_micros_limit is not None:
            total = Decimal(run.cost_micros_limit) / _MICROS + more["cost"]
            limits["cost_usd"] = f"{total:f}"
        try:
            return BudgetIn(**limits)
        except ValidationError:
            raise Invalid("That is more budget than a run can have.") from None

    @property
    def complaint(self) -> str:
        """The first thing that is wrong, with the name of its field."""
        name, (message, *_) = next(iter(self.errors.items()))
        return str(message) if name == "reason" else f"{self[name].label}: {message}"


@require_POST
@member_door
def reopen(request: ConsoleRequest, code: UUID) -> HttpResponse:
    """What the page shows next comes by the socket, as to all."""
    run = run_loaded(project_id=request.project.pk, code=code)
    if run is None:
        raise Http404
    form = ReopenForm(request.POST)
    try:
        if not form.is_valid():
            raise Invalid(form.complaint)
        services.run_reopen(
            run_code=str(code),
            person=person_of(request.user),
            budget=form.budget_over(run),
            reason=form.cleaned_data["reason"],
        )
    except DomainError as refusal:
        response = HttpResponse(refusal.detail, status=refusal.status)
        response["Content-Type"] = "text/plain; charset=utf-8"
        return response
    return HttpResponse(status=204)


@require_POST
@member_door
def acknowledge(request: ConsoleRequest, code: UUID, warning: UUID) -> HttpResponse:
    """Stop sending the warning to the agent; the run continues as before."""
    run = run_loaded(project_id=request.project.pk, code=code)
    if run is None or not run.warnings.filter(code=warning).exists():
        raise Http404
    services.warning_acknowledge(
        run_code=str(code), warning_code=str(warning), person=person_of(request.user)
    )
    if not request.htmx:
        return redirect("console:run", request.project.slug, code)
    checks = run_checks_of(run, slug=request.project.slug, at=timezone.now())
    return render(request, "console/runs/_run_checks.html", {"checks": checks})
