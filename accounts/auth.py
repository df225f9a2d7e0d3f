"""Who is asking: from a bearer secret to an agent or a person.

The answer is kept for a few seconds, so that a busy agent costs no query per step; a
revocation empties this process at once and the others within `CACHE_SECONDS`.
"""

from __future__ import annotations

import hmac
import time
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from django.db.models import QuerySet
from django.utils import timezone

from accounts import secrets
from accounts.models import Agent, AgentKey, PersonalToken, Scope, User
from common.errors import Forbidden, Unauthenticated

CACHE_SECONDS = 4.0
# Why a person's token is refused where an agent holds it.
FROM_SESSION = (
    "This comes from inside an agent's session, and a person is asked. Do it in the "
    "console, or in a terminal of your own."
)
# A "last used" date is worth one write a minute, not one a request.
LAST_USED_GRAIN = timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentPrincipal:
    agent_id: int
    agent_code: str
    agent_name: str
    project_id: int
    project_slug: str
    key_id: int
    scopes: frozenset[str] = frozenset(Scope.values)

    @property
    def actor(self) -> str:
        return f"agent:{self.agent_code}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonPrincipal:
    user_id: int
    user_code: str
    username: str
    token_id: int | None = None  # None: a signed-in browser
    # When they gave their password to this browser, as far as that is known.
    signed_in_at: datetime | None = None

    @property
    def actor(self) -> str:
        return f"user:{self.user_code}"


def build_person_principal(
    user: User, *, signed_in_at: datetime | None = None
) -> PersonPrincipal:
    """A signed-in person, as the use cases know them."""
    return PersonPrincipal(
        user_id=user.pk,
        user_code=str(user.code),
        username=user.username,
        signed_in_at=signed_in_at,
    )


Principal = AgentPrincipal | PersonPrincipal


def require_agent(principal: Principal | None) -> AgentPrincipal:
    if not isinstance(principal, AgentPrincipal):
        raise Forbidden("This operation needs an agent key.")
    return principal


def require_person(principal: Principal | None) -> PersonPrincipal:
    if not isinstance(principal, PersonPrincipal):
        raise Forbidden("This operation needs a person: use a personal token.")
    return principal


_known: dict[str, tuple[float, Principal]] = {}
_KNOWN_LIMIT = 10_000


def parse_bearer_secret(header: str | None) -> str | None:
    """The secret of `Authorization: Bearer …`; None when no header was sent."""
    if header is None:
        return None
    scheme, _, secret = header.partition(" ")
    if scheme != "Bearer" or not secret.startswith(
        (secrets.AGENT_PREFIX, secrets.PERSON_PREFIX)
    ):
        raise Unauthenticated
    return secret


def get_cached_principal(secret: str) -> Principal | None:
    """The cached answer, without a query."""
    return get_known_principal(secrets.hash_secret(secret))


def get_known_principal(digest: str) -> Principal | None:
    """The same by the digest of the secret."""
    found = _known.get(digest)
    if found is None or found[0] < time.monotonic():
        return None
    return found[1]


def find_principal(secret: str) -> Principal:
    """Find candidates by the public part, compare digests in constant time."""
    find = _find_agent if secret.startswith(secrets.AGENT_PREFIX) else _find_person
    digest = secrets.hash_secret(secret)
    principal = find(secrets.get_prefix(secret), digest)
    if principal is None:
        raise Unauthenticated
    if len(_known) >= _KNOWN_LIMIT:
        _known.clear()
    _known[digest] = (time.monotonic() + CACHE_SECONDS, principal)
    return principal


def is_secret_valid(principal: Principal) -> bool:
    """Whether the secret of this request is still in force, read from the database."""
    if isinstance(principal, AgentPrincipal):
        return list_valid_keys().filter(pk=principal.key_id).exists()
    return list_valid_tokens().filter(pk=principal.token_id or 0).exists()


def list_valid_tokens() -> QuerySet[PersonalToken]:
    """Personal tokens that open something: not revoked, not expired."""
    tokens = PersonalToken.objects.filter(revoked_at=None, user__is_active=True)
    return tokens.exclude(expires_at__lte=timezone.now())


def require_valid_secret(principal: Principal) -> None:
    """Raise why the secret of this request opens nothing any more."""
    if is_secret_valid(principal):
        return
    if isinstance(principal, AgentPrincipal):
        agents = Agent.objects.filter(pk=principal.agent_id)
        if agents.exclude(disabled_at=None).exists():
            raise _build_disabled_error(principal.agent_name)
    raise Unauthenticated


def list_valid_keys() -> QuerySet[AgentKey]:
    """Keys that open something: not revoked, not expired, their agent not disabled."""
    return _list_keys_in_force().filter(agent__disabled_at=None)


def _list_keys_in_force() -> QuerySet[AgentKey]:
    keys = AgentKey.objects.filter(revoked_at=None)
    return keys.exclude(expires_at__lte=timezone.now())


def _build_disabled_error(name: str) -> Forbidden:
    return Forbidden(
        f"The agent {name} is disabled: an admin of its project enables it."
    )


def is_signed_in(session_key: str) -> bool:
    """Whether this is the session of a person who has signed in."""
    return SESSION_KEY in SessionStore(session_key=session_key)


def forget_secret(digest: str) -> None:
    _known.pop(digest, None)


def _find_agent(lookup: str, digest: str) -> AgentPrincipal | None:
    keys = _list_keys_in_force().select_related("agent__project")
    for key in keys.filter(lookup=lookup):
        if hmac.compare_digest(key.digest, digest):
            if key.agent.disabled_at is not None:
                raise _build_disabled_error(key.agent.name)
            _update_last_used(key)
            return AgentPrincipal(
                agent_id=key.agent_id,
                agent_code=str(key.agent.code),
                agent_name=key.agent.name,
                project_id=key.agent.project_id,
                project_slug=key.agent.project.slug,
                key_id=key.pk,
                scopes=frozenset(key.scopes.split()),
            )
    return None


def _find_person(lookup: str, digest: str) -> PersonPrincipal | None:
    for token in list_valid_tokens().select_related("user").filter(lookup=lookup):
        if hmac.compare_digest(token.digest, digest):
            _update_last_used(token)
            return replace(build_person_principal(token.user), token_id=token.pk)
    return None


def _update_last_used(secret: AgentKey | PersonalToken) -> None:
    now = timezone.now()
    if secret.last_used_at is None or secret.last_used_at < now - LAST_USED_GRAIN:
        secret.last_used_at = now
        secret.save(update_fields=["last_used_at"])
