"""What managers do to stored versions: put one in force, and try one over history."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from accounts.auth import build_person_principal
from common.errors import DomainError
from console.access import ConsoleRequest
from console.forms import get_first_error
from console.policies.forms import NoteForm
from console.policies.views import find_or_404, redirect_after, render_version
from reviews.policies.backtest.services import Period, start_backtest
from reviews.policies.selectors import get_version, read_document
from reviews.policies.services import activate_version


@require_POST
@find_or_404
def activate(request: ConsoleRequest, name: str, number: int) -> HttpResponse:
    """Publish a draft, or restore an old version: the same act."""
    version = get_version(request.project, name, number)
    form = NoteForm(request.POST)
    if not form.is_valid():
        return render_version(
            request, version, refusal=get_first_error(form), status=422
        )
    try:
        outcome = activate_version(
            project_id=request.project.pk,
            name=name,
            number=number,
            note=form.cleaned_data["note"],
            by=build_person_principal(request.user),
            apply_to_running=form.cleaned_data["apply_to_running"],
            based_on=form.cleaned_data["in_force"],
        )
    except DomainError as refusal:
        return render_version(
            request, version, refusal=refusal.detail, status=refusal.status
        )
    return redirect_after(request, name, outcome)


@require_POST
@find_or_404
def try_version(request: ConsoleRequest, name: str, number: int) -> HttpResponse:
    version = get_version(request.project, name, number)
    try:
        backtest = start_backtest(
            project=request.project,
            user_id=request.user.pk,
            policy=name,
            document=read_document(version),
            version=number,
            period=Period(),
        )
    except DomainError as refusal:
        return render_version(
            request, version, refusal=refusal.detail, status=refusal.status
        )
    return redirect("console:backtest", request.project.slug, backtest.code)
