"""The tab Start. While something is to do, the page asks again by itself."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET, require_POST

from accounts.auth import build_person_principal
from accounts.models import Scope
from common.errors import DomainError
from console.access import ConsoleRequest
from console.forms import add_refusal
from console.layout import get_page_frame
from console.settings.changes import list_changes
from console.settings.start.checklist import build_checklist
from console.settings.start.commands import build_first_step_commands
from console.settings.start.forms import FirstAgentForm
from console.settings.tabs import build_frame
from reviews.administration.agents.keys import make_key
from reviews.administration.agents.services import create_agent

NEWEST = 8
FIRST_KEY = "first"


@require_GET
def start(request: ConsoleRequest) -> HttpResponse:
    return _render(request)


def _render(
    request: ConsoleRequest, *, form: FirstAgentForm | None = None, key: str = ""
) -> HttpResponse:
    address = get_page_frame(request).address
    context = {
        **build_frame(request, "start"),
        "checklist": build_checklist(request.project),
        "commands": build_first_step_commands(address=address, key=key),
        "changes": list_changes(project_id=request.project.pk, limit=NEWEST),
        "form": form or FirstAgentForm(),
        "key": key,
    }
    status = 422 if form else 200
    return render(request, "console/settings/start/start.html", context, status=status)


@require_POST
def make_agent(request: ConsoleRequest) -> HttpResponse:
    """Not behind a redirect: the key is kept nowhere from which it could be read."""
    form = FirstAgentForm(request.POST)
    if not form.is_valid():
        return _render(request, form=form)
    person = build_person_principal(request.user)
    try:
        agent = create_agent(
            project_id=request.project.pk,
            by=person,
            name=form.cleaned_data["name"],
            owner=request.user.username,
        )
        scopes = [scope.value for scope in Scope]
        _, key = make_key(agent=agent, by=person, name=FIRST_KEY, scopes=scopes)
    except DomainError as refusal:
        add_refusal(form, refusal)
        return _render(request, form=form)
    return _render(request, key=key)
