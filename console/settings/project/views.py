"""The tab Project: admins change it, managers and auditors see it."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from accounts.auth import build_person_principal
from common.errors import DomainError, Unchanged
from console.access import ConsoleRequest
from console.forms import add_refusal
from console.settings.project.forms import NewProjectForm, ProjectForm
from console.settings.tabs import build_frame
from guidance.selectors import load_policy_choice
from guidance.services import DEFAULT, get_policy_in_force
from reviews.administration.project import services


@require_GET
def project(request: ConsoleRequest) -> HttpResponse:
    return _render(request)


def _list_policies(request: ConsoleRequest) -> list[str]:
    get_policy_in_force(project_id=request.project.pk, name=DEFAULT)
    return sorted(load_policy_choice(project_id=request.project.pk).active)


def _render(
    request: ConsoleRequest,
    *,
    form: ProjectForm | None = None,
    new: NewProjectForm | None = None,
) -> HttpResponse:
    policies = _list_policies(request)
    known = {name: getattr(request.project, name) for name in services.FIELDS}
    context = {
        **build_frame(request, "project"),
        "form": form or ProjectForm(policies=policies, initial=known),
        "new": new or NewProjectForm(),
        "policies": policies,
    }
    failed = (form and form.errors) or (new and new.errors)
    return render(
        request,
        "console/settings/project/project.html",
        context,
        status=422 if failed else 200,
    )


@require_POST
def change(request: ConsoleRequest) -> HttpResponse:
    form = ProjectForm(request.POST, policies=_list_policies(request))
    if not form.is_valid():
        return _render(request, form=form)
    try:
        services.change_project(
            project_id=request.project.pk,
            by=build_person_principal(request.user),
            wanted=form.cleaned_data,
        )
    except Unchanged:
        pass
    except DomainError as refusal:
        add_refusal(form, refusal)
        return _render(request, form=form)
    return redirect("console:settings-project", request.project.slug)


@require_POST
def make(request: ConsoleRequest) -> HttpResponse:
    form = NewProjectForm(request.POST)
    if not form.is_valid():
        return _render(request, new=form)
    try:
        made = services.create_project(
            by=build_person_principal(request.user), **form.cleaned_data
        )
    except DomainError as refusal:
        add_refusal(form, refusal)
        return _render(request, new=form)
    return redirect("console:settings-start", made.slug)
