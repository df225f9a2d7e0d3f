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

    def __call__(self, request: HttpRequest) -> Principal | None:
        return seen_of(request).principal


class SignedIn(SessionAuth):
    """A person's browser session; writes need the CSRF token."""

    def authenticate(self, request: HttpRequest, key: str | None) -> Any:
        user = request.user
        return person_of(user) if isinstance(user, User) else None


BEARER = Bearer()
BEARER_OR_SESSION = [BEARER, SignedIn()]


def agent_of(request: HttpRequest) -> AgentPrincipal:
    return require_agent(request.auth)  # type: ignore[attr-defined]


def person_asking(request: HttpRequest) -> PersonPrincipal:
    return require_person(request.auth)  # type: ignore[attr-defined]


def principal_of(request: HttpRequest) -> Principal:
    principal: Principal = request.auth  # type: ignore[attr-defined]
    return principal
