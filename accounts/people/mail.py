"""Mail to people, where the server knows how to send any."""

from __future__ import annotations

import logging
from smtplib import SMTPException

from django.conf import settings
from django.core.mail import send_mail

logger = logging.getLogger(__name__)


def is_mail_set_up() -> bool:
    return bool(settings.MAIL_FROM)


def send_text(*, to: str, subject: str, text: str) -> bool:
    """Whether the mail server has taken it. Without one, nothing is sent."""
    if not is_mail_set_up():
        return False
    try:
        # A line break in a subject is refused by Django: what is quoted has none.
        send_mail(" ".join(subject.split()), text, settings.MAIL_FROM, [to])
    except (OSError, SMTPException):
        logger.exception("A mail could not be sent")
        return False
    return True
