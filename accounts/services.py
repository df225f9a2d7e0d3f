"""Writes: projects, people, agents, and the secrets given to them."""

from __future__ import annotations

import secrets as random_secrets
from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone

from accounts import secrets
from accounts.auth import forget_secret
from accounts.errors import Invalid
from accounts.models import (
    SYSTEM_LOOP,
    Agent,
    AgentKey,
    Membership,
    PersonalToken,
    Project,
    Role,
    User,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPerson:
    """What is shown once about a person who was just added."""

    user: User
    project: Project
    password: str
    token: str


def project_ensure(*, slug: str, name: str = "") -> Project:
    project, _ = Project.objects.get_or_create(
        slug=slug, defaults={"name": name or slug.replace("-", " ").title()}
    )
    return project


@transaction.atomic
def agent_key_issue(*, name: str, project_slug: str) -> tuple[AgentKey, str]:
    """A new key for an agent, who is made together with its project if absent."""
    if name == SYSTEM_LOOP:
        raise Invalid(f"{SYSTEM_LOOP} is the system loop's own: choose another name.")
    project = project_ensure(slug=project_slug)
    agent, _ = Agent.objects.get_or_create(project=project, name=name)
    secret = secrets.new_secret(secrets.AGENT_PREFIX)
    key = AgentKey.objects.create(
        agent=agent, digest=secrets.digest(secret), lookup=secrets.lookup(secret)
    )
    return key, secret


def agent_key_revoke(*, key: AgentKey) -> None:
    """Effective at once in this process, within seconds in the others."""
    AgentKey.objects.filter(pk=key.pk, revoked_at=None).update(
        revoked_at=timezone.now()
    )
    forget_secret(key.digest)


@transaction.atomic
def person_add(*, name: str, role: Role, project_slug: str) -> NewPerson:
    """A person with a role. Whoever exists keeps their account and gets the role.

    A fresh password and token are issued each time: neither can be shown again.
    """
    project = project_ensure(slug=project_slug)
    user, _ = User.objects.get_or_create(username=name)
    password = random_secrets.token_urlsafe(15)
    user.set_password(password)
    user.save(update_fields=["password"])
    Membership.objects.update_or_create(
        project=project, user=user, defaults={"role": role}
    )
    token = secrets.new_secret(secrets.PERSON_PREFIX)
    PersonalToken.objects.create(
        user=user, digest=secrets.digest(token), lookup=secrets.lookup(token)
    )
    return NewPerson(user=user, project=project, password=password, token=token)
