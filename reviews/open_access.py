"""May this caller still look at this project? Asked again while a socket or a stream
is open."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from django.contrib.sessions.models import Session
from django.utils import timezone

from accounts.auth import AgentPrincipal, Principal
from accounts.models import AgentKey, Membership, PersonalToken, User

SIGNED_OUT = 4401
NO_PROJECT = 4404


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionAccess:
    """Whose session opened a socket on what. `auth_hash` changes with the password."""

    user_id: int
    project_id: int
    session_key: str
    auth_hash: str


def get_session_access(
    *, user: User, slug: str, session_key: str
) -> SessionAccess | None:
    """None for an outsider: to them the project does not exist."""
    project_id = (
        Membership.objects.filter(user_id=user.pk, project__slug=slug)
        .values_list("project_id", flat=True)
        .first()
    )
    if project_id is None:
        return None
    return SessionAccess(
        user_id=user.pk,
        project_id=project_id,
        session_key=session_key,
        auth_hash=user.get_session_auth_hash(),
    )


def list_refused_sessions(
    sessions_open: Collection[SessionAccess],
) -> dict[SessionAccess, int]:
    """The sessions_open to let go, with the close code that says why: two queries for all."""
    sessions = set(
        Session.objects.filter(
            session_key__in={access.session_key for access in sessions_open},
            expire_date__gt=timezone.now(),
        ).values_list("session_key", flat=True)
    )
    memberships = Membership.objects.select_related("user").filter(
        user_id__in={access.user_id for access in sessions_open},
        project_id__in={access.project_id for access in sessions_open},
    )
    members = {(item.user_id, item.project_id): item.user for item in memberships}
    refused = {}
    for access in sessions_open:
        user = members.get((access.user_id, access.project_id))
        if access.session_key not in sessions:
            refused[access] = SIGNED_OUT
        elif user is None:
            refused[access] = NO_PROJECT
        elif not user.is_active or user.get_session_auth_hash() != access.auth_hash:
            refused[access] = SIGNED_OUT
    return refused


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyAccess:
    """A program that showed a key or a token, at a project."""

    principal: Principal
    project_id: int


Access = SessionAccess | KeyAccess


def list_refused(readers: Collection[Access]) -> set[Access]:
    """Those whose session, key, token or membership is gone: a query for each kind."""
    sessions_open = {item for item in readers if isinstance(item, SessionAccess)}
    refused: set[Access] = (
        set(list_refused_sessions(sessions_open)) if sessions_open else set()
    )
    agents: dict[Access, int] = {}
    people: dict[Access, tuple[int, int]] = {}
    for item in readers:
        if isinstance(item, KeyAccess):
            if isinstance(item.principal, AgentPrincipal):
                agents[item] = item.principal.key_id
            else:
                people[item] = (item.principal.token_id or 0, item.project_id)
    if agents:
        standing = AgentKey.objects.filter(pk__in=agents.values(), revoked_at=None)
        keys = set(standing.values_list("pk", flat=True))
        refused |= {item for item, key in agents.items() if key not in keys}
    if people:
        held = PersonalToken.objects.filter(
            pk__in={token for token, _ in people.values()},
            revoked_at=None,
            user__is_active=True,
        )
        roles = set(held.values_list("pk", "user__membership__project_id"))
        refused |= {item for item, role in people.items() if role not in roles}
    return refused
