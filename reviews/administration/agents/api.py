"""Operations on agents and keys: admins write, managers and auditors see."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import Query, Router

from accounts.api_auth import get_person, get_project
from accounts.models import Role
from accounts.selectors import require_role, require_sight
from common.paging import list_page_after, refuse_unknown_parameters
from common.responses import build_empty_response, build_json_response
from guidance.core.policy.limits import UNLIMITED
from reviews.administration.agents import keys, selectors, services
from reviews.administration.agents.schemas import (
    AgentChange,
    AgentFilters,
    AgentIn,
    AgentOut,
    AgentPage,
    KeyIn,
    NewKeyOut,
    serialize_agent,
    serialize_key,
)

router = Router(tags=["Agents"])


@router.get("/agents", response=AgentPage)
def list_agents(request: HttpRequest, filters: Query[AgentFilters]) -> HttpResponse:
    """The agents of a project with their keys, newest first (manager or auditor)."""
    refuse_unknown_parameters(request.GET, AgentFilters.model_fields)
    person = get_person(request)
    project = get_project(principal=person, slug=filters.project)
    require_sight(user_id=person.user_id, project_id=project.pk)
    rows = selectors.list_agents_with_keys(project_id=project.pk)
    page, next_cursor = list_page_after(
        rows, among=rows, cursor=filters.cursor, limit=filters.limit
    )
    policies = selectors.get_agent_policies(project.pk)
    items = [serialize_agent(row, policy=policies.get(row.name)) for row in page]
    return build_json_response({"items": items, "next_cursor": next_cursor})


@router.post("/agents", response={201: AgentOut})
def create_agent(request: HttpRequest, body: AgentIn) -> HttpResponse:
    """Make an agent; it works once it has a key (admin)."""
    person = get_person(request)
    project = get_project(principal=person, slug=body.project)
    require_role(user_id=person.user_id, project_id=project.pk, role=Role.ADMIN)
    agent = services.create_agent(
        project_id=project.pk,
        by=person,
        name=body.name,
        owner=body.owner,
        description=body.description,
        limits=body.limits.build_budget() if body.limits else UNLIMITED,
    )
    if body.policy is not None:
        services.assign_policy(agent=agent, by=person, policy=body.policy)
    return _answer(agent.project_id, agent.pk, status=201)


@router.patch("/agents/{agent}", response=AgentOut)
def change_agent(request: HttpRequest, agent: str, body: AgentChange) -> HttpResponse:
    """Change its owner, description, policy or limits, or disable it: then none of its keys
    opens anything, within 5 seconds everywhere (admin)."""
    person = get_person(request)
    found = selectors.get_agent_to_change(person, agent)
    wanted = body.model_dump(exclude_unset=True)
    if "policy" in wanted:
        policy = wanted.pop("policy")
        services.assign_policy(agent=found, by=person, policy=policy)
    if "limits" in wanted:
        wanted["limits"] = body.limits.build_budget() if body.limits else UNLIMITED
    if wanted:
        services.change_agent(agent=found, by=person, wanted=wanted)
    return _answer(found.project_id, found.pk)


@router.post("/agents/{agent}/keys", response={201: NewKeyOut})
def make_agent_key(request: HttpRequest, agent: str, body: KeyIn) -> HttpResponse:
    """A key for this agent. It is shown only here (admin)."""
    person = get_person(request)
    found = selectors.get_agent_to_change(person, agent)
    key, secret = keys.make_key(
        agent=found,
        by=person,
        name=body.name,
        scopes=[each.value for each in body.scopes],
        expires_at=body.expires_at,
    )
    more: dict[str, Any] = {"agent": str(found.code), "key": secret}
    return build_json_response(serialize_key(key, **more), status=201)


@router.delete("/agents/{agent}/keys/{key}", response={204: None})
def revoke_agent_key(request: HttpRequest, agent: str, key: str) -> HttpResponse:
    """End a key, within 5 seconds everywhere, for agents that wait too (admin)."""
    person = get_person(request)
    found = selectors.get_agent_to_change(person, agent)
    ended = selectors.get_key(found, key)
    keys.revoke_keys(agent=found, by=person, keys=[ended])
    return build_empty_response()


def _answer(project_id: int, agent_id: int, *, status: int = 200) -> HttpResponse:
    rows = selectors.list_agents_with_keys(project_id=project_id)
    row = rows.get(pk=agent_id)
    policy = selectors.get_agent_policies(project_id).get(row.name)
    return build_json_response(serialize_agent(row, policy=policy), status=status)
