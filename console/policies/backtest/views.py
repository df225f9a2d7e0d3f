"""The page of a backtest: its result while it grows, and what to do with the draft."""

from __future__ import annotations

import json
from urllib.parse import urlencode
from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from accounts.auth import build_person_principal
from accounts.selectors import list_agents
from common.errors import DomainError
from console.access import ConsoleRequest
from console.forms import add_refusal, get_first_error
from console.policies.backtest.lists import read_filters
from console.policies.backtest.page import build_backtest_page
from console.policies.draft_notes import get_draft_note, store_draft_note
from console.policies.forms import AgainForm, NoteForm
from console.policies.page import describe_running, name_publishing
from console.policies.views import build_frame, read_number, redirect_after
from guidance.selectors import find_version_in_force
from reviews.models import Backtest
from reviews.policies.backtest.services import Period, cancel_backtest, start_backtest
from reviews.policies.services import activate_version, create_version


@require_GET
def backtest(request: ConsoleRequest, code: UUID) -> HttpResponse:
    return _render(request, find_backtest(request, code))


@require_POST
def cancel(request: ConsoleRequest, code: UUID) -> HttpResponse:
    """What was found so far stays."""
    cancel_backtest(find_backtest(request, code))
    return redirect("console:backtest", request.project.slug, code)


@require_POST
def publish(request: ConsoleRequest, code: UUID) -> HttpResponse:
    """Put in force what was tried: a stored version, or the draft as the next one."""
    found = find_backtest(request, code)
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


@require_POST
def run_again(request: ConsoleRequest, code: UUID) -> HttpResponse:
    """The same draft over other decisions: another time, agent or run."""
    found = find_backtest(request, code)
    form = AgainForm(request.POST)
    if not form.is_valid():
        return _render(request, found, again=form, status=422)
    given = form.cleaned_data
    try:
        backtest = start_backtest(
            project=request.project,
            user_id=request.user.pk,
            policy=found.policy,
            document=json.loads(found.document),
            version=found.version,
            period=Period(
                since=form.begins,
                until=form.ends,
                agent=given["agent"] or None,
                run=given["run"] or None,
                all_runs=given["runs"] == "all",
            ),
        )
    except DomainError as refusal:
        add_refusal(form, refusal)
        return _render(request, found, again=form, status=refusal.status)
    store_draft_note(request, backtest.code, get_draft_note(request, code))
    return redirect("console:backtest", request.project.slug, backtest.code)


def _read_period(found: Backtest) -> dict[str, object]:
    """What it was run over, as the form for the next one has it."""
    return {
        "since": found.since.date(),
        "until": found.until.date(),
        "agent": found.agent.name if found.agent else "",
        "run": str(found.run.code) if found.run else "",
        "runs": "all" if found.all_runs else "policy",
    }


def find_backtest(request: ConsoleRequest, code: UUID) -> Backtest:
    rows = Backtest.objects.select_related("created_by", "agent", "run", "project")
    found = rows.filter(project=request.project, code=code).first()
    if found is None:
        raise Http404
    return found


def _render(
    request: ConsoleRequest,
    found: Backtest,
    *,
    refusal: str = "",
    again: AgainForm | None = None,
    status: int = 200,
) -> HttpResponse:
    at = timezone.now()
    chosen = read_filters(request.GET)
    slug = request.project.slug
    active = find_version_in_force(project_id=request.project.pk, name=found.policy)
    context = {
        **build_frame(request, at),
        "result": build_backtest_page(
            found,
            slug=slug,
            chosen=chosen,
            number=read_number(request.GET, "page") or 1,
            at=at,
        ),
        "filters": urlencode(chosen),
        "again": again or AgainForm(initial=_read_period(found)),
        "agents": list_agents(project_id=request.project.pk).values_list(
            "name", flat=True
        ),
        "in_force": active.version if active else 0,
        "running": describe_running(request.project, found.policy),
        "publish": name_publishing(request.project, active),
        "refusal": refusal,
        "note": request.POST.get("note", get_draft_note(request, found.code)),
        "applied": "apply_to_running" in request.POST,
        "here": request.get_full_path(),
        "period": (found.since, found.until),
    }
    return render(request, "console/policies/backtest.html", context, status=status)
