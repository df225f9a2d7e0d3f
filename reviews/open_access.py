"""May this caller still look at this project? Asked again while a socket or a stream
is open."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from django.contrib.sessions.models import Session
from django.utils import timezone

from accounts.auth import (
    AgentPrincipal,
    Principal,
    list_valid_keys,
    list_valid_tokens,
)
from accounts.models import Membership, Role, User
from ledger.models import Run
from ledger.selectors import is_administration_run

SIGNED_OUT = 4401
NO_PROJECT = 4404


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionAccess:
    """Whose session opened a socket on what. `auth_hash` changes with the password;
    `needs_sight` is on what reviewers do not see."""

    user_id: int
    project_id: int
    session_key: str
    auth_hash: str
    needs_sight: bool = False


def get_session_access(
    *, user: User, slug: str, session_key: str, run: UUID | None = None
) -> SessionAccess | None:
    """None for an outsider: to them the project does not exist; nor does its
    administration to a reviewer. `run` is the one whose page it is."""
    found = Membership.objects.filter(user_id=user.pk, project__slug=slug)
    member = found.values_list("project_id", "role").first()
    if member is None:
        return None
    project_id, role = member
    needs_sight = _needs_sight(project_id, run)
    if needs_sight and not Role(role).sees_all:
        return None
    return SessionAccess(
        user_id=user.pk,
        project_id=project_id,
        session_key=session_key,
        auth_hash=user.get_session_auth_hash(),
        needs_sight=needs_sight,
    )


def _needs_sight(project_id: int, code: UUID | None) -> bool:
    if code is None:
        return False
    run = Run.objects.only("intent").filter(project_id=project_id, code=code).first()
    return run is not None and is_administration_run(run)


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
    members = {(item.user_id, item.project_id): item for item in memberships}
    refused = {}
    for access in sessions_open:
        member = members.get((access.user_id, access.project_id))
        if access.session_key not in sessions:
            refused[access] = SIGNED_OUT
        elif member is None:
            refused[access] = NO_PROJECT
        elif not _is_same_user(member.user, access):
            refused[access] = SIGNED_OUT
        elif access.needs_sight and not Role(member.role).sees_all:
            refused[access] = NO_PROJECT
    return refused


def _is_same_user(user: User, access: SessionAccess) -> bool:
    """Active still, and with the same password."""
    return user.is_active and user.get_session_auth_hash() == access.auth_hash


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyAccess:
    """A program that showed a key or a token, at a project."""

    principal: Principal
    project_id: int
    needs_sight: bool = False


Access = SessionAccess | KeyAccess


def list_refused(readers: Collection[Access]) -> set[Access]:
    """Those whose session, key, token or membership is gone: a query for each kind."""
    sessions_open = {item for item in readers if isinstance(item, SessionAccess)}
    refused: set[Access] = (
        set(list_refused_sessions(sessions_open)) if sessions_open else set()
    )
    agents: dict[Access, int] = {}
    people: dict[KeyAccess, tuple[int, int]] = {}
    for item in readers:
        if isinstance(item, KeyAccess):
            if isinstance(item.principal, AgentPrincipal):
                agents[item] = item.principal.key_id
            else:
                people[item] = (item.principal.token_id or 0, item.project_id)
    if agents:
        valid = list_valid_keys().filter(pk__in=agents.values())
        keys = set(valid.values_list("pk", flat=True))
        refused |= {item for item, key in agents.items() if key not in keys}
    if people:
        held = list_valid_tokens().filter(
            pk__in={token for token, _ in people.values()}
        )
        member = "user__membership__"
        roles = {
            (token, project_id): Role(role)
            for token, project_id, role in held.values_list(
                "pk", f"{member}project_id", f"{member}role"
            )
            if role is not None  # of somebody who is in no project
        }
        for item, place in people.items():
            role = roles.get(place)
            if role is None or (item.needs_sight and not role.sees_all):
                refused.add(item)
    return refused
