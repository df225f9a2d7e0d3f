"""Mail is sent: one to a person, however many reviews came at once."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from django.utils import timezone

from accounts.models import User
from accounts.people.mail import hand_in
from guidance.time_zones import find_zone
from notifications.models import Notice, Occasion, Recipient
from notifications.selectors import Told, get_mail_from, list_people, list_untold
from notifications.texts import TEST_SUBJECT, TEST_TEXT, build_subject, build_text
from reviews.models import Severity

_ERROR_LIMIT = 300
# No sooner after the mail before; what is critical or ends soon waits a minute at most.
PAUSE = timedelta(minutes=5)
URGENT_PAUSE = timedelta(minutes=1)
# Of reviews that are over, for those who look why a mail was sent.
KEEP = timedelta(days=7)


def send_mails(*, at: datetime | None = None) -> int:
    """Send what is due; return how many were handed to the mail server."""
    moment = at or timezone.now()
    return sum(_send_to(user, at=moment) for user in list_people())


def send_to(user: User, *, subject: str, text: str, at: datetime) -> bool:
    """Hand in a mail, and keep for its person what became of it."""
    error = hand_in(to=user.email, subject=subject, text=text)
    Recipient.objects.update_or_create(
        user=user, defaults={"told_at": at, "error": error[:_ERROR_LIMIT]}
    )
    return not error


def send_test(user: User) -> None:
    """The way that every other mail takes; what became of it stands with the recipient."""
    send_to(user, subject=TEST_SUBJECT, text=TEST_TEXT, at=timezone.now())


def store_mail_choice(*, user: User, mail_from: str) -> None:
    Recipient.objects.update_or_create(user=user, defaults={"mail_from": mail_from})


def delete_old_notices() -> int:
    over = Notice.objects.filter(review__closed_at__lt=timezone.now() - KEEP)
    return over.delete()[0]


def _send_to(user: User, *, at: datetime) -> bool:
    """At least once: where the mail server fails, the next turn says it again."""
    recipient: Recipient | None = getattr(user, "recipient", None)
    tried_at = recipient.tried_at if recipient else None
    if tried_at is not None and at - tried_at < URGENT_PAUSE:
        return False
    told = list_untold(user, at=at)
    pause = URGENT_PAUSE if any(map(_is_urgent, told)) else PAUSE
    if not told or (tried_at is not None and at - tried_at < pause):
        return False
    if not _take_turn(user, tried_at=tried_at, at=at):
        return False
    zone = find_zone(user.time_zone) or UTC
    subject, text = build_subject(told), build_text(told, at=at, zone=zone)
    if not send_to(user, subject=subject, text=text, at=at):
        return False
    Notice.objects.bulk_create(
        [
            Notice(user=user, review=each.review, occasion=each.occasion)
            for each in told
        ],
        ignore_conflicts=True,
    )
    return True


def _is_urgent(told: Told) -> bool:
    return (
        told.occasion == Occasion.ENDS_SOON or told.review.severity == Severity.CRITICAL
    )


def _take_turn(user: User, *, tried_at: datetime | None, at: datetime) -> bool:
    """Compare and set: of two workers one sends."""
    if not hasattr(user, "recipient"):
        _, made = Recipient.objects.get_or_create(
            user=user, defaults={"mail_from": get_mail_from(user), "tried_at": at}
        )
        return made
    turn = Recipient.objects.filter(user=user, tried_at=tried_at)
    return turn.update(tried_at=at) == 1
