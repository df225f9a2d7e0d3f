"""Make an agent, and change who answers for it, what it is for, how much it may use and
whether it may work."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import Any

from django.db import transaction

from accounts.auth import PersonPrincipal, forget_secret
from accounts.models import SYSTEM_AGENTS, Agent, AgentKey, Project, User
from common.errors import Invalid, Unchanged
from guidance.core.policy.assignments import Assignment, Match
from guidance.core.policy.limits import UNLIMITED
from guidance.core.runs.shared_limits import PARTS
from guidance.core.runs.usage import Budget
from reviews.administration.chain import (
    AuditEntry,
    PreparedChange,
    build_difference,
    perform_change,
)
from reviews.administration.described_rows import describe_agent
from reviews.policies.assignments import (
    hash_assignments,
    list_assignments,
    replace_assignments,
)
from reviews.policies.limits.selectors import get_own_limits
from reviews.policies.limits.serializers import serialize_limits

AGENTS_LIMIT = 1_000
_LIMIT_FIELDS = tuple(f"{part}_limit" for part in PARTS)


def create_agent(
    *,
    project_id: int,
    by: PersonPrincipal | None,
    name: str,
    owner: str | None = None,
    description: str = "",
    limits: Budget = UNLIMITED,
) -> Agent:
    def prepare() -> PreparedChange[Agent]:
        agents = Agent.objects.filter(project_id=project_id)
        if name in SYSTEM_AGENTS or agents.filter(name=name).exists():
            raise _refuse("name", f"There is an agent named {name} already.")
        if agents.count() >= AGENTS_LIMIT:
            raise Invalid(f"A project has at most {AGENTS_LIMIT:,} agents.")
        agent = Agent(
            project_id=project_id,
            name=name,
            owner=find_owner(project_id, owner),
            description=description,
        )
        _set_limits(agent, limits)
        return PreparedChange(
            entries=[build_created_entry(agent)], store=partial(_store, agent)
        )

    return perform_change(project_id=project_id, by=by, prepare=prepare)


def change_agent(
    *, agent: Agent, by: PersonPrincipal | None, wanted: Mapping[str, Any]
) -> None:
    """`wanted` may have an owner (a name, or None), a description, limits (a Budget), and
    disabled. Nothing happens where all of it holds already."""
    if agent.name in SYSTEM_AGENTS:
        raise Invalid(f"{agent.name} belongs to the server: it has no owner.")

    def prepare() -> PreparedChange[None]:
        now = Agent.objects.select_related("owner").get(pk=agent.pk)
        before = _describe(now)
        owner = now.owner
        if "owner" in wanted:
            owner = find_owner(now.project_id, wanted["owner"])
        limits: Budget = wanted.get("limits", get_own_limits(now))
        said = {**before, **wanted, "limits": serialize_limits(limits)}
        changed = build_difference(before, said)
        payload = {"agent": str(now.code), "name": now.name, **changed}

        def store(at: datetime) -> None:
            now.owner = owner
            now.description = wanted.get("description", now.description)
            _set_limits(now, limits)
            if "disabled" in changed["after"]:
                now.disabled_at = at if wanted["disabled"] else None
                transaction.on_commit(partial(_forget_keys, now.pk))
            now.save(
                update_fields=["owner", "description", "disabled_at", *_LIMIT_FIELDS]
            )

        if not changed:
            raise Unchanged("All of this holds already: nothing would change.")
        entry = AuditEntry("agent.changed", payload)
        return PreparedChange(entries=[entry], store=store)

    with suppress(Unchanged):
        perform_change(project_id=agent.project_id, by=by, prepare=prepare)


def assign_policy(*, agent: Agent, by: PersonPrincipal, policy: str | None) -> None:
    """The agent's own assignment, which is before all others; None takes it away.

    It is an act on the project's policies, and stands in their chain.
    """
    before = list_assignments(agent.project_id)
    own = Match(agent=agent.name)
    others = [each for each in before if each.match != own]
    first = [] if policy is None else [Assignment(match=own, policy=policy)]
    replace_assignments(
        project_id=agent.project_id,
        by=by,
        assignments=[*first, *others],
        seen=hash_assignments(before),
    )


def find_owner(project_id: int, name: str | None) -> User | None:
    """The person who is to answer for an agent: a member of its project."""
    if name is None:
        return None
    members = User.objects.filter(membership__project_id=project_id, is_active=True)
    owner = members.filter(username=name).first()
    if owner is None:
        slug = Project.objects.values_list("slug", flat=True).get(pk=project_id)
        raise _refuse("owner", f"{name} is not a member of the project {slug!r}.")
    return owner


def build_created_entry(agent: Agent) -> AuditEntry:
    payload = describe_agent(agent)
    limits = serialize_limits(get_own_limits(agent))
    if limits:
        payload["limits"] = limits
    return AuditEntry("agent.created", payload)


def _describe(agent: Agent) -> dict[str, Any]:
    return {
        "owner": agent.owner.username if agent.owner else None,
        "description": agent.description,
        "limits": serialize_limits(get_own_limits(agent)),
        "disabled": agent.disabled_at is not None,
    }


def _set_limits(agent: Agent, limits: Budget) -> None:
    for part, field in zip(PARTS, _LIMIT_FIELDS, strict=True):
        setattr(agent, field, getattr(limits, part))


def _store(agent: Agent, at: datetime) -> Agent:
    agent.created_at = at
    agent.save(force_insert=True)
    return agent


def _forget_keys(agent_id: int) -> None:
    digests = AgentKey.objects.filter(agent_id=agent_id, revoked_at=None)
    for digest in digests.values_list("digest", flat=True):
        forget_secret(digest)


def _refuse(field: str, message: str) -> Invalid:
    return Invalid(message, errors=[{"loc": [field], "message": message}])
