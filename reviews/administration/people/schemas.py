"""What the API of people takes and answers."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, StringConstraints

from accounts.models import Invitation
from common.fields import Id, Moment
from ledger.chain import format_timestamp
from reviews.administration.people.addresses import check_address
from reviews.administration.people.invitations import SentInvitation
from reviews.administration.people.password_links import PasswordLink
from reviews.administration.people.selectors import Member
from reviews.schemas.fields import Body

RoleName = Literal["auditor", "reviewer", "manager", "admin"]
Address = Annotated[
    str, StringConstraints(min_length=3, max_length=254), AfterValidator(check_address)
]
ProjectSlug = Annotated[str, StringConstraints(max_length=64)]


class InvitationIn(Body):
    """`project` is required if you are in several."""

    email: Address
    role: RoleName
    project: ProjectSlug | None = None


class PersonIn(Body):
    """The role that they get."""

    role: RoleName


class PersonOut(BaseModel):
    """A person of the project; `rulings` are those of the last 30 days."""

    id: Id
    name: str
    email: str
    role: str
    you: bool
    rulings: int
    last_seen_at: Moment | None
    joined_at: Moment


class InvitationOut(BaseModel):
    """Somebody who was asked to come; the link works once, until `expires_at`, while
    `invited_by` is an admin of the project."""

    id: Id
    email: str
    role: str
    invited_by: str
    sent_at: Moment
    expires_at: Moment


class NewInvitationOut(InvitationOut):
    """`link` only where it could not be mailed: it is shown nowhere else."""

    mailed: bool
    link: str | None


class PeopleOut(BaseModel):
    """Everybody of the project, and who was asked to come."""

    items: list[PersonOut]
    invitations: list[InvitationOut]


class PasswordLinkOut(BaseModel):
    """`link` only where it could not be mailed: it is shown nowhere else."""

    mailed: bool
    link: str | None


def serialize_member(member: Member, *, viewer_id: int) -> dict[str, Any]:
    seen = member.last_seen_at
    return {
        "id": str(member.user.code),
        "name": member.user.username,
        "email": member.user.email,
        "role": member.role.value,
        "you": member.user.pk == viewer_id,
        "rulings": member.rulings,
        "last_seen_at": format_timestamp(seen) if seen else None,
        "joined_at": format_timestamp(member.joined_at),
    }


def serialize_invitation(invitation: Invitation) -> dict[str, Any]:
    return {
        "id": str(invitation.code),
        "email": invitation.email,
        "role": invitation.role,
        "invited_by": invitation.invited_by.username,
        "sent_at": format_timestamp(invitation.sent_at),
        "expires_at": format_timestamp(invitation.expires_at),
    }


def serialize_sent(sent: SentInvitation) -> dict[str, Any]:
    answer = serialize_invitation(sent.invitation)
    return {**answer, "mailed": sent.mailed, "link": sent.address or None}


def serialize_password_link(link: PasswordLink) -> dict[str, Any]:
    return {"mailed": bool(link.mailed_to), "link": link.address or None}
