"""Keys of an agent: made and shown once, revoked for good."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial

from django.utils import timezone

from accounts import secrets
from accounts.auth import PersonPrincipal
from accounts.models import ALL_SCOPES, SYSTEM_AGENTS, Agent, AgentKey, Membership, User
from accounts.services import revoke_secrets
from common.errors import Invalid, Unchanged
from reviews.administration.agents.services import build_created_entry
from reviews.administration.chain import (
    AuditEntry,
    PreparedChange,
    build_difference,
    perform_change,
)
from reviews.administration.described_rows import describe_key, describe_new_key
from reviews.administration.project.services import ensure_project

KEYS_LIMIT = 50
IssuedKey = tuple[AgentKey, str]


def make_key(
    *,
    agent: Agent,
    by: PersonPrincipal | None,
    name: str,
    scopes: Sequence[str],
    expires_at: datetime | None = None,
) -> IssuedKey:
    """A key for this agent; the secret beside it is shown only once."""
    if expires_at is not None and expires_at <= timezone.now():
        message = "must be in the future"
        raise Invalid(
            "The key would have expired already.",
            errors=[{"loc": ["expires_at"], "message": message}],
        )

    def prepare() -> PreparedChange[IssuedKey]:
        if AgentKey.objects.filter(agent=agent, revoked_at=None).count() >= KEYS_LIMIT:
            raise Invalid(f"An agent has at most {KEYS_LIMIT} keys: revoke one first.")
        key, secret = _build_key(agent, by)
        key.name, key.scopes, key.expires_at = name, " ".join(scopes), expires_at
        return PreparedChange(
            entries=[_build_made_entry(key)], store=partial(_store, key, secret)
        )

    return perform_change(project_id=agent.project_id, by=by, prepare=prepare)


def revoke_keys(
    *, agent: Agent, by: PersonPrincipal | None, keys: Sequence[AgentKey]
) -> int:
    """End those still in force, each by an entry of its own; how many that were."""

    def prepare() -> PreparedChange[int]:
        rows = AgentKey.objects.filter(
            pk__in=[key.pk for key in keys], agent=agent, revoked_at=None
        )
        entries = [
            AuditEntry("key.revoked", describe_key(key, agent))
            for key in rows.order_by("pk")
        ]
        if not entries:
            raise Unchanged("They are revoked already.")
        return PreparedChange(entries=entries, store=lambda _at: revoke_secrets(rows))

    try:
        return perform_change(project_id=agent.project_id, by=by, prepare=prepare)
    except Unchanged:
        return 0


def issue_key(
    *, name: str, project_slug: str, owner: User | None, key_name: str = ""
) -> IssuedKey:
    """For a command: makes project and agent if absent; an owner replaces the one before."""
    if name in SYSTEM_AGENTS:
        raise Invalid(f"{name} is the server's own agent: choose another name.")
    members = Membership.objects.filter(project__slug=project_slug, user=owner)
    if owner is not None and not members.exists():
        raise Invalid(f"{owner} is not a member of the project {project_slug!r}.")
    project = ensure_project(slug=project_slug)

    def prepare() -> PreparedChange[IssuedKey]:
        entries = []
        agents = Agent.objects.select_related("owner").filter(project=project)
        agent = agents.filter(name=name).first()
        if agent is None:
            agent = Agent(project=project, name=name, owner=owner)
            entries.append(build_created_entry(agent))
        elif owner is not None and agent.owner != owner:
            before = agent.owner.username if agent.owner else None
            changed = build_difference({"owner": before}, {"owner": owner.username})
            about = {"agent": str(agent.code), "name": agent.name}
            entries.append(AuditEntry("agent.changed", {**about, **changed}))
            agent.owner = owner
        key, secret = _build_key(agent, None)
        key.name = key_name
        entries.append(_build_made_entry(key))

        def store(at: datetime) -> IssuedKey:
            agent.save()
            key.agent = agent
            return _store(key, secret, at)

        return PreparedChange(entries=entries, store=store)

    return perform_change(project_id=project.pk, by=None, prepare=prepare)


def _build_key(agent: Agent, by: PersonPrincipal | None) -> IssuedKey:
    secret = secrets.create_secret(secrets.AGENT_PREFIX)
    key = AgentKey(
        agent=agent,
        digest=secrets.hash_secret(secret),
        lookup=secrets.get_prefix(secret),
        scopes=ALL_SCOPES,
        created_by_id=by.user_id if by else None,
    )
    return key, secret


def _build_made_entry(key: AgentKey) -> AuditEntry:
    return AuditEntry("key.made", describe_new_key(key, key.agent))


def _store(key: AgentKey, secret: str, at: datetime) -> IssuedKey:
    key.created_at = at
    key.save(force_insert=True)
    return key, secret
