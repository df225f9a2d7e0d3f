"""The way of a person's mail, and what became of the last one."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils import timezone

from accounts.models import User
from accounts.people.mail import is_mail_set_up
from console.format import ShownMoment, build_past_moment_or_none
from notifications.models import Recipient
from safetext import make_visible_line


@dataclass(frozen=True, slots=True, kw_only=True)
class MailWay:
    """`missing` is what keeps mail from the person, in one word: `server`, `role`,
    `address` or `confirmation`; empty where it comes. `error` is of the last mail."""

    address: str
    new_address: str
    missing: str
    last: ShownMoment | None
    error: str


def build_mail_way(user: User, *, may_rule: bool) -> MailWay:
    recipient: Recipient | None = getattr(user, "recipient", None)
    return MailWay(
        address=make_visible_line(user.email),
        new_address=make_visible_line(user.new_email),
        missing=_find_missing(user, may_rule=may_rule),
        last=build_past_moment_or_none(
            recipient.told_at if recipient else None, timezone.now()
        ),
        error=make_visible_line(recipient.error) if recipient else "",
    )


def _find_missing(user: User, *, may_rule: bool) -> str:
    if not is_mail_set_up():
        return "server"
    if not user.email:
        return "confirmation" if user.new_email else "address"
    return "" if may_rule else "role"
