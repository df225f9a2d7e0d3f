"""Reads: agents with their owners, keys and policies, as admins keep them."""

from __future__ import annotations

from django.db.models import Prefetch, QuerySet
from django.utils import timezone

from accounts.auth import PersonPrincipal
from accounts.models import SYSTEM_AGENTS, Agent, AgentKey, Role
from accounts.selectors import require_role
from common.errors import NotFound
from common.ids import parse_code
from guidance.core.policy.assignments import Match
from reviews.policies.assignments import list_assignments


def list_agents_with_keys(*, project_id: int) -> QuerySet[Agent]:
    """All but the server's own; `kept_keys` are those that nobody has revoked."""
    keys = AgentKey.objects.filter(revoked_at=None).select_related("created_by")
    agents = Agent.objects.filter(project_id=project_id).exclude(name__in=SYSTEM_AGENTS)
    return agents.select_related("owner", "project").prefetch_related(
        Prefetch("keys", queryset=keys.order_by("pk"), to_attr="kept_keys")
    )


def get_agent_to_change(person: PersonPrincipal, code: str) -> Agent:
    """NotFound for a stranger, Forbidden for a member who is no admin."""
    agent = _get_agent(person, code)
    require_role(user_id=person.user_id, project_id=agent.project_id, role=Role.ADMIN)
    return agent


def _get_agent(person: PersonPrincipal, code: str) -> Agent:
    known = parse_code(code)
    agents = Agent.objects.filter(project__membership__user_id=person.user_id)
    agents = agents.exclude(name__in=SYSTEM_AGENTS)
    agent = agents.filter(code=known).first() if known else None
    if agent is None:
        raise NotFound
    return agent


def get_key(agent: Agent, code: str) -> AgentKey:
    known = parse_code(code)
    key = AgentKey.objects.filter(agent=agent, code=known).first() if known else None
    if key is None:
        raise NotFound
    return key


def get_key_state(key: AgentKey) -> str:
    if key.revoked_at is not None:
        return "revoked"
    expired = key.expires_at is not None and key.expires_at <= timezone.now()
    return "expired" if expired else "valid"


def get_agent_policies(project_id: int) -> dict[str, str]:
    """By the names of the agents that an assignment names alone: the policy of each."""
    found: dict[str, str] = {}
    for each in list_assignments(project_id):
        if each.match == Match(agent=each.match.agent):
            found.setdefault(each.match.agent, each.policy)
    return found
