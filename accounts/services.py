"""Writes: projects, people, agents, and the secrets given to them."""

from __future__ import annotations

import secrets as random_secrets
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from accounts import secrets
from accounts.auth import forget_secret
from accounts.models import (
    SYSTEM_AGENTS,
    Agent,
    AgentKey,
    Membership,
    PersonalToken,
    Project,
    Role,
    Secret,
    User,
)
from accounts.selectors import is_member
from common.errors import Invalid

S = TypeVar("S", bound=Secret)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPerson:
    """What is shown once about a person who was just added."""

    user: User
    project: Project
    password: str
    token: str


def ensure_project(*, slug: str, name: str = "") -> Project:
    project, _ = Project.objects.get_or_create(
        slug=slug, defaults={"name": name or slug.replace("-", " ").title()}
    )
    return project


@transaction.atomic
def issue_agent_key(
    *, name: str, project_slug: str, owner: User | None = None
) -> tuple[AgentKey, str]:
    """Create a key for an agent; agent and project are created if absent.

    An owner that is named replaces the one before.
    """
    if name in SYSTEM_AGENTS:
        raise Invalid(f"{name} is the server's own agent: choose another name.")
    project = ensure_project(slug=project_slug)
    agent, _ = Agent.objects.get_or_create(project=project, name=name)
    if owner is not None:
        store_owner(agent=agent, owner=owner)
    secret = secrets.create_secret(secrets.AGENT_PREFIX)
    key = AgentKey.objects.create(
        agent=agent,
        digest=secrets.hash_secret(secret),
        lookup=secrets.get_prefix(secret),
    )
    return key, secret


def store_owner(*, agent: Agent, owner: User | None) -> None:
    """Name the person who answers for an agent: somebody of its project."""
    if agent.name in SYSTEM_AGENTS:
        raise Invalid(f"{agent.name} belongs to the server: it has no owner.")
    project = agent.project
    if owner is not None and not is_member(user_id=owner.pk, project_id=project.pk):
        raise Invalid(f"{owner} is not a member of the project {project.slug!r}.")
    agent.owner = owner
    agent.save(update_fields=["owner"])


def revoke_agent_key(*, key: AgentKey) -> None:
    revoke_secrets(AgentKey.objects.filter(pk=key.pk))


def issue_token(*, user: User) -> str:
    """Create a personal token; it is shown only once."""
    token = secrets.create_secret(secrets.PERSON_PREFIX)
    PersonalToken.objects.create(
        user=user, digest=secrets.hash_secret(token), lookup=secrets.get_prefix(token)
    )
    return token


def revoke_secrets(rows: QuerySet[S]) -> int:
    """End those still in force: at once in this process, within seconds in the others."""
    digests = list(rows.filter(revoked_at=None).values_list("digest", flat=True))
    in_force = rows.model._default_manager.filter(digest__in=digests, revoked_at=None)
    count = in_force.update(revoked_at=timezone.now())
    # Not before: somebody would ask the database meanwhile, and remember it as good.
    transaction.on_commit(partial(_forget_secrets, digests))
    return count


def _forget_secrets(digests: Sequence[str]) -> None:
    for digest in digests:
        forget_secret(digest)


@transaction.atomic
def store_own_password(*, user: User, password: str) -> None:
    """A password that the person chose. It ends their sessions and their old tokens.

    The tokens from before a one-time password ended with the one before it: what came
    together with it is not old.
    """
    if not user.must_change_password:
        revoke_secrets(PersonalToken.objects.filter(user=user))
    user.set_password(password)
    user.must_change_password = False
    user.save(update_fields=["password", "must_change_password"])


@transaction.atomic
def add_person(*, name: str, role: Role, project_slug: str) -> NewPerson:
    """Add a person with a role. Whoever exists keeps their account and gets the role.

    A fresh one-time password and a token are issued each time: neither can be shown
    again. Sessions and tokens from before have ended.
    """
    project = ensure_project(slug=project_slug)
    user, _ = User.objects.get_or_create(username=name)
    password = random_secrets.token_urlsafe(15)
    revoke_secrets(PersonalToken.objects.filter(user=user))
    user.set_password(password)
    user.must_change_password = True
    user.save(update_fields=["password", "must_change_password"])
    Membership.objects.update_or_create(
        project=project, user=user, defaults={"role": role}
    )
    token = issue_token(user=user)
    return NewPerson(user=user, project=project, password=password, token=token)
