"""Writes: projects, people, agents, and the secrets given to them."""

from __future__ import annotations

import secrets as random_secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar
from uuid import UUID

from django.contrib.auth.hashers import make_password
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
from accounts.selectors import is_member, list_token_levels
from common.errors import Invalid
from common.ids import uuid7

S = TypeVar("S", bound=Secret)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewToken:
    """A personal token that is not stored yet."""

    code: UUID = field(default_factory=uuid7)
    secret: str = field(
        default_factory=partial(secrets.create_secret, secrets.PERSON_PREFIX)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPassword:
    """A one-time password and its hash, which takes a while to compute."""

    text: str
    hash: str


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


def issue_token(*, user: User, token: NewToken | None = None) -> str:
    """Create a personal token; it is shown only once."""
    token = token or NewToken()
    PersonalToken.objects.create(
        code=token.code,
        user=user,
        digest=secrets.hash_secret(token.secret),
        lookup=secrets.get_prefix(token.secret),
    )
    return token.secret


def revoke_secrets(rows: QuerySet[S]) -> int:
    """End those still in force: at once in this process, within seconds in the others."""
    digests = list(rows.filter(revoked_at=None).values_list("digest", flat=True))
    in_force = rows.model._default_manager.filter(digest__in=digests, revoked_at=None)
    count = in_force.update(revoked_at=timezone.now())
    # Not before: somebody would ask the database meanwhile, and remember it as good.
    transaction.on_commit(partial(_forget_secrets, digests))
    return count


@transaction.atomic
def revoke_tokens(rows: QuerySet[PersonalToken]) -> int:
    """End these and all that were made with them, however far down; how many there were.

    From the top: a token is locked while one is made with it, so whoever comes first, no
    child is missed.
    """
    token_ids = list(rows.values_list("pk", flat=True))
    return sum(
        revoke_secrets(PersonalToken.objects.filter(pk__in=level))
        for level in list_token_levels(token_ids=token_ids)
    )


def _forget_secrets(digests: Sequence[str]) -> None:
    for digest in digests:
        forget_secret(digest)


@transaction.atomic
def store_own_password(*, user: User, by_link: bool = False) -> None:
    """The password that was set on `user`, whose hash takes a while, by the person.

    It ends their sessions and their old tokens. The tokens from before a one-time password
    ended with the one before it: what came together with it is not old, unless the person
    did not sign in with it but chose theirs by a link.
    """
    if by_link or not user.must_change_password:
        revoke_tokens(PersonalToken.objects.filter(user=user))
    user.must_change_password = False
    user.save(update_fields=["password", "must_change_password"])


def create_password() -> NewPassword:
    text = random_secrets.token_urlsafe(15)
    return NewPassword(text=text, hash=make_password(text))


@transaction.atomic
def add_person(
    *,
    name: str,
    role: Role,
    project_slug: str,
    code: UUID | None = None,
    password: NewPassword | None = None,
    token: NewToken | None = None,
) -> NewPerson:
    """Add a person with a role. Whoever exists keeps their account and gets the role.

    A fresh one-time password and a token are issued each time: neither can be shown
    again. Sessions and tokens from before have ended. `code` is for somebody new.
    """
    project = ensure_project(slug=project_slug)
    user, _ = User.objects.get_or_create(
        username=name, defaults={"code": code or uuid7()}
    )
    password = password or create_password()
    revoke_tokens(PersonalToken.objects.filter(user=user))
    user.password = password.hash
    user.must_change_password = True
    user.save(update_fields=["password", "must_change_password"])
    Membership.objects.update_or_create(
        project=project, user=user, defaults={"role": role}
    )
    shown = issue_token(user=user, token=token)
    return NewPerson(user=user, project=project, password=password.text, token=shown)
