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
class Guest:
    """Whose session opened a socket on what. `auth_hash` changes with the password."""

    user_id: int
    project_id: int
    session_key: str
    auth_hash: str


def guest_for(*, user: User, slug: str, session_key: str) -> Guest | None:
    """None for an outsider: to them the project does not exist."""
    project_id = (
        Membership.objects.filter(user_id=user.pk, project__slug=slug)
        .values_list("project_id", flat=True)
        .first()
    )
    if project_id is None:
        return None
    return Guest(
        user_id=user.pk,
        project_id=project_id,
        session_key=session_key,
        auth_hash=user.get_session_auth_hash(),
    )


def guests_refused(guests: Collection[Guest]) -> dict[Guest, int]:
    """The guests to let go, with the close code that says why: two queries for all."""
    sessions = set(
        Session.objects.filter(
            session_key__in={guest.session_key for guest in guests},
            expire_date__gt=timezone.now(),
        ).values_list("session_key", flat=True)
    )
    memberships = Membership.objects.select_related("user").filter(
        user_id__in={guest.user_id for guest in guests},
        project_id__in={guest.project_id for guest in guests},
    )
    members = {(item.user_id, item.project_id): item.user for item in memberships}
    refused = {}
    for guest in guests:
        user = members.get((guest.user_id, guest.project_id))
        if guest.session_key not in sessions:
            refused[guest] = SIGNED_OUT
        elif user is None:
            refused[guest] = NO_PROJECT
        elif not user.is_active or user.get_session_auth_hash() != guest.auth_hash:
            refused[guest] = SIGNED_OUT
    return refused


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """A program that showed a key or a token, at a project."""

    principal: Principal
    project_id: int


Reader = Guest | Holder


def readers_refused(readers: Collection[Reader]) -> set[Reader]:
    """Those whose session, key, token or membership is gone: a query for each kind."""
    guests = {item for item in readers if isinstance(item, Guest)}
    refused: set[Reader] = set(guests_refused(guests)) if guests else set()
    agents: dict[Reader, int] = {}
    people: dict[Reader, tuple[int, int]] = {}
    for item in readers:
        if isinstance(item, Holder):
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
