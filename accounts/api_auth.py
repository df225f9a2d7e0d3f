"""What an API operation may know of its request: who asks, and what was sent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from ninja.security import SessionAuth
from ninja.security.base import AuthBase

from accounts.auth import (
    AgentPrincipal,
    PersonPrincipal,
    Principal,
    person_of,
    require_agent,
    require_person,
)
from accounts.models import User
from common.errors import Forbidden

SEEN = "checkrail"  # where the front leaves what it has seen, in the ASGI scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What the front knows of a request when it lets it in."""

    principal: Principal | None
    raw: bytes
    document: Any


def seen_of(request: HttpRequest) -> Seen:
    seen: Seen = request.scope[SEEN]  # type: ignore[attr-defined]
    return seen


class Bearer(AuthBase):
    """The agent or person whose secret the front has checked."""

    openapi_type: str = "http"
    openapi_scheme: str = "bearer"
    openapi_description: str = "An agent's key (crk_…) or a person's token (crt_…)."

    def __call__(self, request: HttpRequest) -> Principal | None:
        return seen_of(request).principal


class AgentBearer(Bearer):
    """Agents only, and said so before a word about the body."""

    openapi_description: str = "An agent's key (crk_…)."

    def __call__(self, request: HttpRequest) -> AgentPrincipal | None:
        principal = super().__call__(request)
        return None if principal is None else require_agent(principal)


class PersonBearer(Bearer):
    """People's programs only, and said so before a word about the body."""

    openapi_description: str = "A person's token (crt_…)."

    def __call__(self, request: HttpRequest) -> PersonPrincipal | None:
        principal = super().__call__(request)
        return None if principal is None else require_person(principal)


class SignedIn(SessionAuth):
    """A person's browser session; writes need the CSRF token."""

    openapi_description: str = "The session of a person who is signed in."

    def __call__(self, request: HttpRequest) -> PersonPrincipal | None:
        user = request.user
        if not isinstance(user, User):
            return None  # unknown: not a matter of CSRF
        if user.must_change_password:
            raise Forbidden("Choose a password of your own in the console first.")
        self._get_key(request)  # refuses a write without the token
        return person_of(user)


BEARER = Bearer()
AGENT = AgentBearer()
BEARER_OR_SESSION = [BEARER, SignedIn()]
PERSON = [PersonBearer(), SignedIn()]


def agent_of(request: HttpRequest) -> AgentPrincipal:
    return require_agent(request.auth)  # type: ignore[attr-defined]


def person_asking(request: HttpRequest) -> PersonPrincipal:
    return require_person(request.auth)  # type: ignore[attr-defined]


def principal_of(request: HttpRequest) -> Principal:
    principal: Principal = request.auth  # type: ignore[attr-defined]
    return principal
