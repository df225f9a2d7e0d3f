"""Limits that runs share: what is used of each, and more of one."""

from __future__ import annotations

from datetime import datetime

from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods

from accounts.auth import build_person_principal
from accounts.models import Agent, Role
from accounts.selectors import list_agents, list_managers
from common.errors import DomainError, Invalid
from console.access import ConsoleRequest
from console.forms import add_refusal
from console.limits.forms import RaiseForm
from console.limits.rows import (
    PERIOD_NAMES,
    build_limit_rows,
    build_raise_rows,
)
from console.policies.views import redirect_after
from console.runs.rows import get_live_position
from reviews.policies.limits.selectors import (
    ScopeUse,
    list_agent_use,
    list_agents_with_use,
    list_project_use,
    list_raises,
    list_scope_use,
)
from reviews.policies.limits.services import (
    PART_FIELDS,
    Raise,
    raise_for_good,
    raise_for_period,
)
from safetext import make_visible_line

PAGE = 50
RAISES = 10


@require_GET
def limits(request: ConsoleRequest) -> HttpResponse:
    at = timezone.now()
    project, slug = request.project, request.project.slug
    agents = list_agent_use(project, list(list_agents_with_use(project, at=at)), at=at)
    agents.sort(key=lambda use: -1.0 if use.share is None else use.share, reverse=True)
    page = Paginator(agents, PAGE).get_page(request.GET.get("page"))
    context = {
        **_build_frame(request, at),
        "project_rows": build_limit_rows(list_project_use(project, at=at), slug=slug),
        "agent_rows": build_limit_rows(page.object_list, slug=slug),
        "agents": page,
        "raises": build_raise_rows(list_raises(project, limit=RAISES), at=at),
        "settings_url": reverse("console:policy", args=[slug, "default"]),
    }
    return render(request, "console/limits/limits.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def raise_limit(request: ConsoleRequest) -> HttpResponse:
    """More of one limit, which the address names: for its day or month, or for good."""
    at = timezone.now()
    scope = str(request.GET.get("scope", "project_day"))
    agent = find_agent(request, scope)
    uses = list_scope_use(request.project, scope, agent=agent, at=at)
    policies = [use.policy for use in uses if use.policy is not None]
    parts = [
        name
        for part, name in PART_FIELDS.items()
        if any(
            each.part == part and each.limit is not None
            for use in uses
            for each in use.parts
        )
    ]
    if request.method != "POST":
        return _render_form(request, uses, RaiseForm(parts, policies), at=at)
    form, status = RaiseForm(parts, policies, request.POST), Invalid.status
    if parts and form.is_valid():
        try:
            return _raise(request, form, scope=scope, agent=agent)
        except DomainError as refusal:
            add_refusal(form, refusal)
            status = refusal.status
    return _render_form(request, uses, form, at=at, status=status)


def answer_done() -> HttpResponse:
    """To a dialog, which closes and says so; what stands around it is read again."""
    return HttpResponse(status=204, headers={"HX-Trigger": "acted"})


def find_agent(request: ConsoleRequest, scope: str) -> Agent | None:
    if scope not in PERIOD_NAMES:
        raise Http404
    if scope != "agent_day":
        return None
    name = str(request.GET.get("agent", ""))
    agent = list_agents(project_id=request.project.pk).filter(name=name).first()
    if agent is None:
        raise Http404
    return agent


def _raise(
    request: ConsoleRequest, form: RaiseForm, *, scope: str, agent: Agent | None
) -> HttpResponse:
    person = build_person_principal(request.user)
    reason = form.cleaned_data["reason"]
    named = agent.name if agent else None
    wanted = Raise(scope=scope, agent=named, more=form.more, reason=reason)
    if form.is_for_good:
        policy = form.cleaned_data["policy"]
        outcome = raise_for_good(
            project=request.project, person=person, wanted=wanted, policy=policy
        )
        return redirect_after(request, policy, outcome)
    raise_for_period(project=request.project, person=person, wanted=wanted)
    if request.htmx:
        return answer_done()
    address = reverse("console:limits", args=[request.project.slug])
    return redirect(f"{address}#limit-{agent.code if agent else scope}")


def _render_form(
    request: ConsoleRequest,
    uses: list[ScopeUse],
    form: RaiseForm,
    *,
    at: datetime,
    status: int = 200,
) -> HttpResponse:
    use, slug = uses[0], request.project.slug
    people = list_managers(project_id=request.project.pk)
    stopped = f"{reverse('console:runs', args=[slug])}?show=stopped"
    context = {
        **_build_frame(request, at),
        "form": form,
        "amounts": [form[name] for name in form.amount_names],
        "rows": build_limit_rows(uses, slug=slug),
        "whose": name_owner(use.agent),
        "address": request.get_full_path(),
        "period": PERIOD_NAMES[use.scope].lower(),
        "is_agent": use.agent is not None,
        "policies": [value for value, _ in form.fields["policy"].choices],  # type: ignore[attr-defined]
        "managers": ", ".join(make_visible_line(each.display_name) for each in people),
        "stopped_url": stopped,
        "policy_url": reverse("console:policy", args=[slug, "default"]),
    }
    page = "_raise_dialog" if request.htmx else "raise"
    return render(request, f"console/limits/{page}.html", context, status=status)


def name_owner(agent: Agent | None) -> str:
    return make_visible_line(agent.name) if agent else "The project"


def _build_frame(request: ConsoleRequest, at: datetime) -> dict[str, object]:
    return {
        "page": "limits",
        "since": get_live_position(project_id=request.project.pk),
        "now": int(at.timestamp() * 1000),
        "slug": request.project.slug,
        "manages": request.role.includes(Role.MANAGER),
    }
