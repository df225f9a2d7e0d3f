"""Take the place that an invitation offers, with a new account or the one there is."""

from __future__ import annotations

from datetime import datetime

from django.contrib.auth.hashers import make_password
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from accounts.auth import build_person_principal, list_valid_tokens
from accounts.models import Invitation, Membership, Role, User
from accounts.secrets import hash_secret
from common.errors import Invalid, NotFound, Unchanged
from reviews.administration.chain import AuditEntry, PreparedChange, perform_change
from reviews.administration.described_rows import describe_account

USED = (
    "This link does not work any more: it was used, taken back, is too old, or who made "
    "it is no admin now, or used a token that has ended."
)


def find_invitation(secret: str) -> Invitation | None:
    """The invitation of this link, if it still works: who is no admin of the project any
    more lets nobody into it, nor themselves back; nor does a token that has ended."""
    admins = Membership.objects.filter(
        project_id=OuterRef("project_id"),
        user_id=OuterRef("invited_by_id"),
        role=Role.ADMIN,
        user__is_active=True,
    )
    return (
        Invitation.objects.select_related("project", "invited_by")
        .filter(
            Exists(admins),
            Q(token=None) | Exists(list_valid_tokens().filter(pk=OuterRef("token_id"))),
            digest=hash_secret(secret),
            accepted_at=None,
            withdrawn_at=None,
            expires_at__gt=timezone.now(),
        )
        .first()
    )


def join_with_new_account(
    *, invitation: Invitation, secret: str, name: str, password: str
) -> User:
    """The hash is computed here, not while the project is locked."""
    user = User(username=name, email=invitation.email, password=make_password(password))
    return join_project(invitation=invitation, secret=secret, user=user)


def join_project(*, invitation: Invitation, secret: str, user: User) -> User:
    """`user` has no id yet where the account is to be made."""
    new = user._state.adding

    def prepare() -> PreparedChange[User]:
        user._state.adding = new  # a try before this one may have been rolled back
        found = find_invitation(secret)
        if found is None:
            raise NotFound(USED)
        _refuse_joining(found, user)
        payload = {
            **describe_account(user),
            "role": found.role,
            "invitation": str(found.code),
            "invited_by": found.invited_by.username,
        }
        return PreparedChange(
            entries=[AuditEntry("person.joined", payload)],
            store=lambda at: _store(found, user, at),
        )

    return perform_change(
        project_id=invitation.project_id,
        by=build_person_principal(user),
        prepare=prepare,
    )


def _refuse_joining(invitation: Invitation, user: User) -> None:
    if user._state.adding:
        # People tell each other apart by their names: capitals alone are no difference.
        if User.objects.filter(username__iexact=user.username).exists():
            message = "Somebody has this name already."
            raise Invalid(message, errors=[{"loc": ["username"], "message": message}])
        return
    members = Membership.objects.filter(project_id=invitation.project_id, user=user)
    if members.exists():
        raise Unchanged(f"You are in {invitation.project.name} already.")


def _store(invitation: Invitation, user: User, at: datetime) -> User:
    if user._state.adding:
        user.pk = None
        user.save(force_insert=True)
    Membership.objects.create(
        project_id=invitation.project_id, user=user, role=invitation.role
    )
    invitation.accepted_at = at
    invitation.save(update_fields=["accepted_at"])
    return user
