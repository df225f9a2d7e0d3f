"""The page of agents and keys, and what admins do on it."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django import forms
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from accounts.auth import build_person_principal
from accounts.models import SYSTEM_AGENTS, Agent, AgentKey, Scope, User
from common.errors import DomainError
from console.access import ConsoleRequest
from console.format import format_count
from console.forms import add_refusal
from console.layout import get_page_frame
from console.settings.agents.forms import AgentForm, AgentSettingsForm, KeyForm
from console.settings.agents.rows import build_agent_rows, list_agent_page
from console.settings.changes import list_changes
from console.settings.start.commands import build_first_step_commands
from console.settings.tabs import build_frame
from guidance.selectors import load_policy_choice
from reviews.administration.agents import keys, services
from reviews.administration.agents.selectors import get_agent_policies

CHANGES = 7
_NO_CHOICE = "Choose an owner and a policy that are there."
_ALERTS = {
    "tokens": "Limit tokens to a whole number of at least 1, or leave the field empty.",
    "tool_calls": "Limit tool calls to a whole number of at least 1, or leave the field empty.",
    "cost_usd": "Limit the cost to an amount such as 20.00, or leave the field empty.",
}


@require_GET
def agents(request: ConsoleRequest) -> HttpResponse:
    return _render(request)


def _render(
    request: ConsoleRequest,
    *,
    form: forms.Form | None = None,
    key_form: KeyForm | None = None,
    opened: str = "",
    alert: str = "",
    **more: Any,
) -> HttpResponse:
    """`opened` is the agent whose keys are shown; else the address says which."""
    project_id, at = request.project.pk, timezone.now()
    search = request.GET.get("q", "").replace("\x00", "").strip()[:120]
    after = request.GET.get("after", "").replace("\x00", "")[:120]
    page, more_follow = list_agent_page(
        project_id=project_id, search=search, after=after
    )
    rows = build_agent_rows(page, policies=get_agent_policies(project_id), at=at)
    opened = opened or request.GET.get("agent", "")
    kept = [key for row in rows for key in row.keys]
    context = {
        **build_frame(request, "agents"),
        "rows": rows,
        "search": search,
        "after": page[-1].name if more_follow else "",
        "opened": next((row for row in rows if row.code == opened), None),
        "counts": f"{format_count(len(rows), 'agent')}, {format_count(len(kept), 'key')}",
        "soon": _describe_soon(sum(key.soon for key in kept)),
        "changes": list_changes(project_id=project_id, limit=CHANGES),
        "form": form or _build_form(request, AgentForm),
        "key_form": key_form or KeyForm(),
        "alert": alert,
        **more,
    }
    wrong = alert or (form and form.errors) or (key_form and key_form.errors)
    return render(
        request,
        "console/settings/agents/agents.html",
        context,
        status=422 if wrong else 200,
    )


def _describe_soon(number: int) -> str:
    if not number:
        return "No key expires this week"
    return f"{format_count(number, 'key')} expire{'s' if number == 1 else ''} this week"


def _build_form(
    request: ConsoleRequest, kind: type[AgentSettingsForm]
) -> AgentSettingsForm:
    members = User.objects.filter(
        membership__project=request.project, is_active=True
    ).order_by("username")
    choice = load_policy_choice(project_id=request.project.pk)
    return kind(
        request.POST or None,
        owners=members.values_list("username", flat=True),
        policies=sorted(choice.active),
    )


@require_POST
def create(request: ConsoleRequest) -> HttpResponse:
    form = _build_form(request, AgentForm)
    if not form.is_valid():
        return _render(request, form=form)
    person, entered = build_person_principal(request.user), form.cleaned_data
    try:
        agent = services.create_agent(
            project_id=request.project.pk,
            by=person,
            name=entered["name"],
            owner=entered["owner"] or None,
            description=entered["description"],
            limits=form.limits,
        )
        if entered["policy"]:
            policy = entered["policy"]
            services.assign_policy(agent=agent, by=person, policy=policy)
    except DomainError as refusal:
        add_refusal(form, refusal)
        return _render(request, form=form)
    return _redirect_to(request, agent)


@require_POST
def change(request: ConsoleRequest, code: UUID) -> HttpResponse:
    agent, form = _get_agent(request, code), _build_form(request, AgentSettingsForm)
    if not form.is_valid():
        alert = _ALERTS.get(next(iter(form.errors), ""), _NO_CHOICE)
        return _render(request, opened=str(code), alert=alert)
    person, entered = build_person_principal(request.user), form.cleaned_data
    try:
        services.assign_policy(agent=agent, by=person, policy=entered["policy"] or None)
        wanted = {
            "owner": entered["owner"] or None,
            "description": entered["description"],
            "limits": form.limits,
        }
        services.change_agent(agent=agent, by=person, wanted=wanted)
    except DomainError as refusal:
        return _render(request, opened=str(code), alert=refusal.detail)
    return _redirect_to(request, agent)


@require_POST
def switch(request: ConsoleRequest, code: UUID, to: str) -> HttpResponse:
    """Disable an agent, or enable it again."""
    agent = _get_agent(request, code)
    person = build_person_principal(request.user)
    wanted = {"disabled": to == "disable"}
    services.change_agent(agent=agent, by=person, wanted=wanted)
    return _redirect_to(request, agent)


@require_POST
def make_key(request: ConsoleRequest, code: UUID) -> HttpResponse:
    """Not behind a redirect: the key is kept nowhere from which it could be read."""
    agent, form = _get_agent(request, code), KeyForm(request.POST)
    if not form.is_valid():
        return _render(request, key_form=form, opened=str(code))
    try:
        key, secret = keys.make_key(
            agent=agent,
            by=build_person_principal(request.user),
            name=form.cleaned_data["name"],
            scopes=form.cleaned_data["scopes"],
            expires_at=form.get_expiry(timezone.now()),
        )
    except DomainError as refusal:
        add_refusal(form, refusal)
        return _render(request, key_form=form, opened=str(code))
    return _render(
        request,
        opened=str(code),
        made=key,
        made_for=agent,
        secret=secret,
        commands=_build_commands(request, key, secret),
    )


def _build_commands(request: ConsoleRequest, key: AgentKey, secret: str) -> str:
    """A first run, where the key may start one."""
    if Scope.RUNS.value not in key.scopes.split():
        return ""
    address = get_page_frame(request).address
    return build_first_step_commands(address=address, key=secret)


@require_POST
def revoke_key(request: ConsoleRequest, code: UUID, key: UUID) -> HttpResponse:
    agent = _get_agent(request, code)
    found = AgentKey.objects.filter(agent=agent, code=key).first()
    if found is None:
        raise Http404
    person = build_person_principal(request.user)
    keys.revoke_keys(agent=agent, by=person, keys=[found])
    return _redirect_to(request, agent)


def _get_agent(request: ConsoleRequest, code: UUID) -> Agent:
    here = Agent.objects.filter(project_id=request.project.pk, code=code)
    agent = here.exclude(name__in=SYSTEM_AGENTS).first()
    if agent is None:
        raise Http404
    return agent


def _redirect_to(request: ConsoleRequest, agent: Agent) -> HttpResponse:
    address = reverse("console:settings-agents", args=[request.project.slug])
    return redirect(f"{address}?agent={agent.code}#agent-{agent.code}")
