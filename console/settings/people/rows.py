"""People and invitations as the page shows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from accounts.models import Invitation, Role
from console.format import (
    ShownMoment,
    build_future_moment,
    build_past_moment,
    build_past_moment_or_none,
)
from console.people import Person, build_person
from reviews.administration.people.abilities import ABILITIES
from reviews.administration.people.selectors import Member
from safetext import make_visible_line


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberRow:
    code: str
    person: Person
    username: str
    email: str
    role: str
    you: bool
    rulings: int
    seen: ShownMoment | None


@dataclass(frozen=True, slots=True, kw_only=True)
class InvitationRow:
    """`left` is how long the link still works, None where it does not."""

    code: str
    email: str
    role: str
    by: str
    sent: ShownMoment
    left: ShownMoment | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AbilityRow:
    """What the roles that are listed beside it may do."""

    words: str
    allowed: Sequence[tuple[str, bool]]


def build_member_rows(
    members: Sequence[Member], *, viewer_id: int, at: datetime
) -> list[MemberRow]:
    return [
        MemberRow(
            code=str(member.user.code),
            person=build_person(member.user),
            username=make_visible_line(member.user.username),
            email=make_visible_line(member.user.email),
            role=member.role.value,
            you=member.user.pk == viewer_id,
            rulings=member.rulings,
            seen=build_past_moment_or_none(member.last_seen_at, at),
        )
        for member in members
    ]


def build_invitation_rows(
    invitations: Sequence[Invitation], *, members: Sequence[Member], at: datetime
) -> list[InvitationRow]:
    admins = {
        member.user.pk
        for member in members
        if member.role is Role.ADMIN and member.user.is_active
    }
    return [
        InvitationRow(
            code=str(invitation.code),
            email=make_visible_line(invitation.email),
            role=invitation.role,
            by=make_visible_line(invitation.invited_by.username),
            sent=build_past_moment(invitation.sent_at, at),
            left=build_future_moment(invitation.expires_at, at)
            if invitation.invited_by_id in admins
            else None,
        )
        for invitation in invitations
    ]


def build_ability_rows() -> list[AbilityRow]:
    return [
        AbilityRow(
            words=ability.words,
            allowed=[(role.value, ability.is_allowed(role)) for role in Role],
        )
        for ability in ABILITIES
    ]
