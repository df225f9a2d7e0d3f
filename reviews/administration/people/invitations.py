"""Invite somebody by a link that works once."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from secrets import token_urlsafe
from typing import Any
from uuid import UUID

from django.conf import settings

from accounts.auth import PersonPrincipal
from accounts.models import Invitation, Membership, Project, Role
from accounts.people.mail import send_text
from accounts.secrets import build_mark, hash_secret
from common.errors import Invalid
from common.ids import uuid7
from reviews.administration.chain import AuditEntry, PreparedChange, perform_change
from reviews.administration.described_rows import describe_invitation
from reviews.administration.people.selectors import (
    get_invitation,
    list_invitations,
)

LIFETIME = timedelta(days=3)
_TEXT = """Hello,

{by} invites you to the project {project} in Checkrail, as {role}.

Open this link to choose a name and a password:

{link}

It works once, until {until}. If you do not know {by}, leave it alone.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SentInvitation:
    """`address` is empty where the link was mailed: then only the mail has it."""

    invitation: Invitation
    address: str

    @property
    def mailed(self) -> bool:
        return not self.address


def invite_person(
    *, project: Project, email: str, role: Role, by: PersonPrincipal
) -> SentInvitation:
    secret, code = token_urlsafe(32), uuid7()

    def prepare() -> PreparedChange[Invitation]:
        _refuse_known_address(project.pk, email)
        return PreparedChange(
            entries=[_build_invited_entry(code, email, role, secret)], store=store
        )

    def store(at: datetime) -> Invitation:
        return Invitation.objects.create(
            project=project,
            code=code,
            email=email,
            role=role,
            digest=hash_secret(secret),
            invited_by_id=by.user_id,
            token_id=by.token_id,
            sent_at=at,
            expires_at=at + LIFETIME,
        )

    invitation = perform_change(project_id=project.pk, by=by, prepare=prepare)
    return _send(invitation, project=project, by=by, secret=secret)


def _refuse_known_address(project_id: int, email: str) -> None:
    """Of one spelling in any case: an address is the same in capitals."""
    member = (
        Membership.objects.select_related("user")
        .filter(project_id=project_id, user__email__iexact=email)
        .first()
    )
    message = ""
    if member is not None:
        message = f"{member.user} has this address and is in the project already."
    waiting = {each.email.lower() for each in list_invitations(project_id=project_id)}
    if email.lower() in waiting:
        message = "This address is invited already: send its link again."
    if message:
        raise Invalid(message, errors=[{"loc": ["email"], "message": message}])


def send_invitation_again(
    *, project: Project, code: str, by: PersonPrincipal
) -> SentInvitation:
    """With a new link, which whoever sends it answers for; the one from before ends."""
    get_invitation(project_id=project.pk, code=code)  # no chain for nothing
    secret = token_urlsafe(32)

    def prepare() -> PreparedChange[Invitation]:
        invitation = get_invitation(project_id=project.pk, code=code)
        entry = _build_invited_entry(
            invitation.code, invitation.email, invitation.role, secret
        )
        entry.payload["again"] = True

        def store(at: datetime) -> Invitation:
            invitation.digest = hash_secret(secret)
            invitation.invited_by_id = by.user_id
            invitation.token_id = by.token_id
            invitation.sent_at = at
            invitation.expires_at = at + LIFETIME
            invitation.save(
                update_fields=[
                    *("digest", "invited_by", "token", "sent_at", "expires_at")
                ]
            )
            return invitation

        return PreparedChange(entries=[entry], store=store)

    invitation = perform_change(project_id=project.pk, by=by, prepare=prepare)
    return _send(invitation, project=project, by=by, secret=secret)


def withdraw_invitation(*, project_id: int, code: str, by: PersonPrincipal) -> None:
    get_invitation(project_id=project_id, code=code)  # no chain for nothing

    def prepare() -> PreparedChange[None]:
        invitation = get_invitation(project_id=project_id, code=code)

        def store(at: datetime) -> None:
            invitation.withdrawn_at = at
            invitation.save(update_fields=["withdrawn_at"])

        return PreparedChange(
            entries=[
                AuditEntry(
                    "person.invitation_withdrawn", describe_invitation(invitation)
                )
            ],
            store=store,
        )

    perform_change(project_id=project_id, by=by, prepare=prepare)


def _build_invited_entry(code: UUID, email: str, role: str, secret: str) -> AuditEntry:
    invitation = Invitation(code=code, email=email, role=role)
    mark = build_mark(hash_secret(secret))
    payload: dict[str, Any] = {
        **describe_invitation(invitation),
        "secret": mark,
        "lasts_s": int(LIFETIME.total_seconds()),
    }
    return AuditEntry("person.invited", payload)


def _send(
    invitation: Invitation, *, project: Project, by: PersonPrincipal, secret: str
) -> SentInvitation:
    address = f"{settings.PUBLIC_URL}/join/{secret}/"
    until = invitation.expires_at
    text = _TEXT.format(
        by=by.username,
        project=project.name,
        role=invitation.role,
        link=address,
        until=f"{until:%A}, {until.day} {until:%B %Y, %H:%M} UTC",
    )
    subject = f"{by.username} invites you to {project.name}"
    mailed = send_text(to=invitation.email, subject=subject, text=text)
    return SentInvitation(invitation=invitation, address="" if mailed else address)
