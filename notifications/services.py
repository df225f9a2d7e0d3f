"""Mail is sent: one to a person, however many reviews came at once."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from smtplib import SMTPException

from django.conf import settings
from django.core.mail import send_mail
from django.utils import timezone

from accounts.models import User
from notifications.models import Notice, Occasion, Recipient
from notifications.selectors import Told, get_mail_from, list_people, list_untold
from notifications.texts import build_subject, build_text
from reviews.models import Severity

logger = logging.getLogger(__name__)
# No sooner after the mail before; what is critical or ends soon waits a minute at most.
PAUSE = timedelta(minutes=5)
URGENT_PAUSE = timedelta(minutes=1)
# Of reviews that are over, for those who look why a mail was sent.
KEEP = timedelta(days=7)


def send_mails(*, at: datetime | None = None) -> int:
    """How many were handed to the mail server."""
    moment = at or timezone.now()
    return sum(_send_to(user, at=moment) for user in list_people())


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
    try:
        send_mail(
            build_subject(told),
            build_text(told, at=at),
            settings.MAIL_FROM or "checkrail@localhost",
            [user.email],
        )
    except (OSError, SMTPException):
        logger.exception("A mail about reviews could not be sent")
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
