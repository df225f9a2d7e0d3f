"""What people do on the page of a run. What it shows next comes by the socket, as to all."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST

from accounts.auth import build_person_principal
from common.errors import DomainError, Invalid
from console.access import ConsoleRequest
from console.forms import get_first_error
from console.runs.checks import build_run_checks
from console.runs.forms import AbortForm, NoteForm, ReopenForm, TellForm
from console.runs.page import build_page, find_visible_run
from reviews import services
from reviews.agent_notes.writing import submit_agent_note
from reviews.allowances.ending import submit_allowance_end


@require_POST
def abort(request: ConsoleRequest, code: UUID) -> HttpResponse:
    form = AbortForm(request.POST)
    try:
        if not form.is_valid():
            raise Invalid(get_first_error(form))
        services.submit_abort(
            run_code=str(code),
            person=build_person_principal(request.user),
            reason=form.cleaned_data["reason"],
            children=form.cleaned_data["children"],
        )
    except DomainError as refusal:
        return _refuse(refusal)
    return HttpResponse(status=204)


@require_POST
def reopen(request: ConsoleRequest, code: UUID) -> HttpResponse:
    run = find_visible_run(request, code)
    if run is None:
        raise Http404
    form, status = ReopenForm(request.POST), Invalid.status
    if form.is_valid():
        try:
            services.submit_reopen(
                run_code=str(code),
                person=build_person_principal(request.user),
                budget=form.build_budget(run),
                reason=form.cleaned_data["reason"],
            )
        except DomainError as refusal:
            form.add_error(None, refusal.detail)
            status = refusal.status
        else:
            return HttpResponse(status=204)
    template = "console/runs/_reopen_fields.html"
    return render(request, template, {"form": form}, status=status)


@require_POST
def add_note(request: ConsoleRequest, code: UUID) -> HttpResponse:
    if find_visible_run(request, code) is None:
        raise Http404
    form = NoteForm(request.POST)
    try:
        if not form.is_valid():
            raise Invalid(get_first_error(form))
        services.submit_note(
            run_code=str(code),
            person=build_person_principal(request.user),
            text=form.cleaned_data["text"],
        )
    except DomainError as refusal:
        return _refuse(refusal)
    if not request.htmx:
        return redirect("console:run", request.project.slug, code)
    return HttpResponse(status=204)


@require_POST
def tell_agent(request: ConsoleRequest, code: UUID) -> HttpResponse:
    """Write to the agent, which goes on; or end its run, and tell it why."""
    if find_visible_run(request, code) is None:
        raise Http404
    form, person = TellForm(request.POST), build_person_principal(request.user)
    try:
        if not form.is_valid():
            raise Invalid(get_first_error(form))
        body = form.build_body()
        if form.cleaned_data["stop"]:
            services.submit_abort(
                run_code=str(code), person=person, reason=body.text, children=True
            )
        else:
            submit_agent_note(run_code=str(code), person=person, body=body)
    except DomainError as refusal:
        return _refuse(refusal)
    if not request.htmx:
        return redirect("console:run", request.project.slug, code)
    return HttpResponse(status=204)


@require_POST
def acknowledge(request: ConsoleRequest, code: UUID, warning: UUID) -> HttpResponse:
    """Stop sending the warning to the agent; the run continues as before."""
    run = find_visible_run(request, code)
    if run is None or not run.warnings.filter(code=warning).exists():
        raise Http404
    services.submit_acknowledgement(
        run_code=str(code),
        warning_code=str(warning),
        person=build_person_principal(request.user),
    )
    if not request.htmx:
        return redirect("console:run", request.project.slug, code)
    checks = build_run_checks(run, slug=request.project.slug, at=timezone.now())
    return render(request, "console/runs/_run_checks.html", {"checks": checks})


@require_POST
def revoke(request: ConsoleRequest, code: UUID, allowance: UUID) -> HttpResponse:
    """Take back what a person has allowed: from its next step on the run asks again."""
    if find_visible_run(request, code) is None:
        raise Http404
    submit_allowance_end(
        run_code=str(code),
        code=str(allowance),
        person=build_person_principal(request.user),
    )
    if not request.htmx:
        return redirect("console:run", request.project.slug, code)
    run = find_visible_run(request, code)
    assert run is not None
    page = build_page(run, slug=request.project.slug, at=timezone.now())
    return render(request, "console/runs/_run_allowances.html", {"run": page})


def _refuse(refusal: DomainError) -> HttpResponse:
    """To the dialog, which still holds what was typed."""
    response = HttpResponse(refusal.detail, status=refusal.status)
    response["Content-Type"] = "text/plain; charset=utf-8"
    return response
