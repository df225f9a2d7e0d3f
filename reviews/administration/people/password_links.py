"""A link with which a person who forgot their password chooses a new one, once."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings
from django.contrib.auth.tokens import PasswordResetTokenGenerator

from accounts.auth import PersonPrincipal
from accounts.models import Membership, Role, User
from accounts.people.mail import send_text
from common.errors import Forbidden
from common.ids import parse_code
from reviews.administration.chain import AuditEntry, PreparedChange, perform_change
from reviews.administration.described_rows import describe_user
from reviews.administration.people.selectors import get_membership

_TEXT = """Hello {name},

{by} made a link for you to choose a new password:

{link}

It works once, for {days} days. Until you use it, everything stays as it is; then you are
signed out everywhere else, and your personal tokens end.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PasswordLink:
    """`address` is empty where the link was mailed: then nobody else gets to see it."""

    mailed_to: str
    address: str


class _LinkTokens(PasswordResetTokenGenerator):
    """Signs when a link was made, and by whom."""

    key_salt = "reviews.administration.people.password_links"

    def __init__(self, maker_code: str) -> None:
        super().__init__()
        self._maker_code = maker_code

    def _make_hash_value(self, user: User, timestamp: int) -> str:
        return f"{super()._make_hash_value(user, timestamp)}{self._maker_code}"


def create_password_link(
    *, project_id: int, code: str, by: PersonPrincipal
) -> PasswordLink:
    """Nothing changes before the link is used."""
    get_membership(project_id=project_id, code=code)  # no chain for nobody
    _refuse_token_and_oneself(code, by=by)

    def prepare() -> PreparedChange[User]:
        user = get_membership(project_id=project_id, code=code).user
        _refuse_other_projects(user, by=by)
        return PreparedChange(
            entries=[AuditEntry("person.password_link", describe_user(user))],
            store=lambda at: user,
        )

    user = perform_change(project_id=project_id, by=by, prepare=prepare)
    signed = _LinkTokens(by.user_code).make_token(user)
    address = f"{settings.PUBLIC_URL}/password/{user.code}/{by.user_code}.{signed}/"
    text = _TEXT.format(
        name=user.username,
        by=by.username,
        link=address,
        days=settings.PASSWORD_RESET_TIMEOUT // 86_400,
    )
    if user.email and send_text(to=user.email, subject="A new password", text=text):
        return PasswordLink(mailed_to=user.email, address="")
    return PasswordLink(mailed_to="", address=address)


def _refuse_token_and_oneself(code: str, *, by: PersonPrincipal) -> None:
    """A token that leaked would become a password, which outlives its revocation."""
    if by.token_id is not None:
        raise Forbidden(
            "No token makes a link for a new password. Sign in, and make it at "
            "Settings → People and roles."
        )
    if code == by.user_code:
        raise Forbidden("Change your own password at Settings → You.")


def _refuse_other_projects(user: User, *, by: PersonPrincipal) -> None:
    """An admin of one project must not get into another one as somebody else."""
    if not _administers_all_of(user, by_id=by.user_id):
        raise Forbidden(
            f"{user} is also in a project of which you are no admin. Whoever runs this "
            "server can give them a new password: manage.py user_add."
        )


def _administers_all_of(user: User, *, by_id: int) -> bool:
    """Whether somebody is an admin of each project this person is in, and they of any."""
    own = Membership.objects.filter(
        user_id=by_id, user__is_active=True, role=Role.ADMIN
    )
    projects = Membership.objects.filter(user=user)
    elsewhere = projects.exclude(project_id__in=own.values("project_id"))
    return projects.exists() and not elsewhere.exists()


def find_linked_user(*, code: str, token: str) -> User | None:
    """Whose link this is, if it was not used, has not expired, and who made it could make
    it now."""
    maker_code, _, signed = token.partition(".")
    user, maker = _find_active(code), _find_active(maker_code)
    if user is None or maker is None:
        return None
    if not _LinkTokens(maker_code).check_token(user, signed):
        return None
    return user if _administers_all_of(user, by_id=maker.pk) else None


def _find_active(code: str) -> User | None:
    known = parse_code(code)
    return User.objects.filter(code=known, is_active=True).first() if known else None
