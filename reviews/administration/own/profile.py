"""A person's profile: their name, where mail reaches them, and their zone.

Mail goes to a confirmed address alone. A new one gets a link, which its person opens while
signed in: neither a typing error nor a token that leaked turns mail to somebody else.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.core import signing
from django.utils import timezone

from accounts.auth import PersonPrincipal, build_person_principal
from accounts.models import User
from accounts.people.mail import send_text
from common.errors import NotFound, RateLimited
from reviews.administration.chain import AuditEntry
from reviews.administration.described_rows import describe_user
from reviews.administration.own.recording import record_for_person
from reviews.administration.people.joining import USED

LIFETIME = timedelta(days=3)
# Between two links: the address may be somebody else's.
PAUSE = timedelta(minutes=1)
_SALT = "reviews.administration.own.profile"
_TEXT = """Hello {name},

open this link while you are signed in to Checkrail, and mail will reach you here:

{link}

It works for {days} days. If you did not ask for it, leave it alone.
"""
_LEFT_TEXT = """Hello {name},

mail from Checkrail does not come here any more. If that was not you, change your password
and tell an admin of your project.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileChange:
    """None leaves a part as it is."""

    name: str | None = None
    address: str | None = None
    time_zone: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredProfile:
    """`mailed`: a link went to the address that is to be confirmed."""

    user: User
    mailed: bool


def change_profile(*, by: PersonPrincipal, change: ProfileChange) -> StoredProfile:
    """A new address gets a link, unless one was mailed a moment ago."""
    user = _store_profile(by=by, change=change)
    asks = bool(change.address and user.new_email) and not _was_asked_lately(user)
    return StoredProfile(user=user, mailed=asks and send_confirmation(user=user))


def _store_profile(*, by: PersonPrincipal, change: ProfileChange) -> User:
    """Store it: a new address is to be confirmed first, an empty one ends mail."""
    user = User.objects.get(pk=by.user_id)
    before = {
        "name": user.first_name,
        "address": user.email,
        "time_zone": user.time_zone,
    }
    if change.name is not None:
        user.first_name, user.last_name = change.name, ""
    if change.time_zone is not None:
        user.time_zone = change.time_zone
    if change.address is not None:
        _set_address(user, change.address)
    now = {"name": user.first_name, "address": user.email, "time_zone": user.time_zone}
    changed = [name for name in now if now[name] != before[name]]
    if not changed:
        _save(user)
        return user
    _record(by, user, changed)
    if before["address"] and not user.email:
        _tell_left(user, before["address"])
    return user


def send_confirmation(*, user: User) -> bool:
    """Mail the link to the address that waits for it; whether the mail server took it."""
    if _was_asked_lately(user):
        raise RateLimited(
            "A link was mailed a moment ago. Look there first, or try again in a minute.",
            retry_after=int(PAUSE.total_seconds()),
        )
    token = signing.dumps([str(user.code), user.new_email], salt=_SALT)
    text = _TEXT.format(
        name=user.display_name,
        link=f"{settings.PUBLIC_URL}/address/{token}/",
        days=LIFETIME.days,
    )
    sent = send_text(to=user.new_email, subject="Confirm your address", text=text)
    if sent:
        User.objects.filter(pk=user.pk).update(new_email_sent_at=timezone.now())
    return sent


def _was_asked_lately(user: User) -> bool:
    asked = user.new_email_sent_at
    return asked is not None and timezone.now() - asked < PAUSE


def find_confirmed_address(*, user: User, token: str) -> str:
    """The address of this link, if it is this person's and still the one that waits."""
    try:
        code, address = signing.loads(token, salt=_SALT, max_age=LIFETIME)
    except signing.BadSignature:
        raise NotFound(USED) from None
    if code != str(user.code) or not address or address != user.new_email:
        raise NotFound(USED)
    return str(address)


def confirm_address(*, user: User, token: str) -> None:
    address = find_confirmed_address(user=user, token=token)
    before, user.email, user.new_email = user.email, address, ""
    _record(build_person_principal(user), user, ["address"])
    if before and before != address:
        _tell_left(user, before)


def _tell_left(user: User, address: str) -> None:
    """In case it was not its owner who changed it."""
    text = _LEFT_TEXT.format(name=user.display_name)
    send_text(to=address, subject="Your address was changed", text=text)


def _set_address(user: User, address: str) -> None:
    if address == user.email:
        user.new_email = ""
    elif address:
        user.new_email = address
    else:
        user.email = user.new_email = ""


def _record(by: PersonPrincipal, user: User, changed: list[str]) -> None:
    """Without the values: an entry stays for ever, an address need not."""
    payload = {**describe_user(user), "changed": changed}
    record_for_person(
        by=by,
        user_id=user.pk,
        entries=[AuditEntry("profile.changed", payload)],
        store=lambda at: _save(user),
    )


def _save(user: User) -> None:
    user.save(
        update_fields=["first_name", "last_name", "email", "new_email", "time_zone"]
    )
