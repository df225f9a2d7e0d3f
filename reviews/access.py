"""May this session still look at this project? Asked again while a socket is open."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from django.contrib.sessions.models import Session
from django.utils import timezone

from accounts.models import Membership, User

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
