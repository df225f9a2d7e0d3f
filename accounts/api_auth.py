"""What an API operation may know of its request: who asks, and what was sent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from ninja.security import SessionAuth
from ninja.security.base import AuthBase

from accounts.auth import (
    FROM_SESSION,
    AgentPrincipal,
    PersonPrincipal,
    Principal,
    build_person_principal,
    require_agent,
    require_person,
)
from accounts.models import Project, Role, User
from accounts.selectors import list_projects, require_role
from common.errors import Forbidden, Invalid, NotFound

PARSED_REQUEST = "checkrail"  # its key in the ASGI scope
# What our clients send from inside an agent's session.
AGENT_SESSION = "Checkrail-Agent-Session"
_READING = ("GET", "HEAD", "OPTIONS")


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedRequest:
    """A request that the guard has checked: who sent it, and its body."""

    principal: Principal | None
    raw: bytes
    document: Any


def get_parsed_request(request: HttpRequest) -> ParsedRequest:
    parsed: ParsedRequest = request.scope[PARSED_REQUEST]  # type: ignore[attr-defined]
    return parsed


class Bearer(AuthBase):
    """The agent or person whose secret the guard has checked."""

    openapi_type: str = "http"
    openapi_scheme: str = "bearer"
    openapi_description: str = "An agent's key (crk_…) or a person's token (crt_…)."

    def __call__(self, request: HttpRequest) -> Principal | None:
        return get_parsed_request(request).principal


class AgentBearer(Bearer):
    """Agents only; anybody else is refused before the body is checked."""

    openapi_description: str = "An agent's key (crk_…)."

    def __call__(self, request: HttpRequest) -> AgentPrincipal | None:
        principal = super().__call__(request)
        return None if principal is None else require_agent(principal)


class PersonBearer(Bearer):
    """People's programs only; others are refused before the body is checked.

    An agent that finds its person's token may read with it. What it would change, a
    person changes: an operation has to say so where that is not meant.
    """

    openapi_description: str = "A person's token (crt_…)."

    def __init__(self, *, also_in_sessions: bool = False) -> None:
        super().__init__()
        self._also_in_sessions = also_in_sessions

    def __call__(self, request: HttpRequest) -> PersonPrincipal | None:
        principal = super().__call__(request)
        if principal is None:
            return None
        person = require_person(principal)
        if (
            request.method not in _READING
            and not self._also_in_sessions
            and get_agent_session(request) is not None
        ):
            raise Forbidden(FROM_SESSION)
        return person


class SignedIn(SessionAuth):
    """A person's browser session; writes need the CSRF token."""

    openapi_description: str = "The session of a person who is signed in."

    def __call__(self, request: HttpRequest) -> PersonPrincipal | None:
        user = request.user
        if not isinstance(user, User):
            return None  # not signed in, whatever the CSRF token
        if user.must_change_password:
            raise Forbidden("Choose a password of your own in the console first.")
        self._get_key(request)  # refuses a write without the token
        return build_person_principal(user)


BEARER = Bearer()
AGENT = AgentBearer()
BEARER_OR_SESSION = [BEARER, SignedIn()]
PERSON = [PersonBearer(), SignedIn()]
# Where nothing is loosened, or where the operation asks the run's policy.
PERSON_ALSO_IN_SESSIONS = [PersonBearer(also_in_sessions=True), SignedIn()]


def get_agent_session(request: HttpRequest) -> str | None:
    """The agent's session that the program says it runs in, None outside of one."""
    return request.headers.get(AGENT_SESSION)


def get_agent(request: HttpRequest) -> AgentPrincipal:
    return require_agent(request.auth)  # type: ignore[attr-defined]


def get_person(request: HttpRequest) -> PersonPrincipal:
    return require_person(request.auth)  # type: ignore[attr-defined]


def get_principal(request: HttpRequest) -> Principal:
    principal: Principal = request.auth  # type: ignore[attr-defined]
    return principal


def refuse_auditor(*, principal: Principal, project_id: int) -> None:
    """Where agents and people alike change something: auditors do not."""
    if isinstance(principal, PersonPrincipal):
        require_role(
            user_id=principal.user_id, project_id=project_id, role=Role.REVIEWER
        )


def get_project(*, principal: Principal, slug: str | None) -> Project:
    """An agent's own project; a person's by its slug, or their only one."""
    if isinstance(principal, AgentPrincipal):
        if slug not in (None, principal.project_slug):
            raise NotFound
        return Project.objects.get(pk=principal.project_id)
    projects = list(list_projects(user_id=principal.user_id))
    if slug is not None:
        projects = [project for project in projects if project.slug == slug]
        if not projects:
            raise NotFound
    if not projects:
        raise Forbidden("You are not a member of any project yet.")
    if len(projects) > 1:
        names = [project.slug for project in projects]
        raise Invalid(
            "You are in several projects: say which one.",
            errors=[{"loc": ["project"], "message": f"one of {names}"}],
        )
    return projects[0]
