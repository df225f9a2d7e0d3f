"""Mail to people, where the server knows how to send any."""

from __future__ import annotations

import logging
from smtplib import SMTPException, SMTPRecipientsRefused, SMTPResponseException

from django.conf import settings
from django.core.mail import send_mail

logger = logging.getLogger(__name__)
# Without a mail server, mails are printed where the server runs, as from this one.
_NOBODY = "checkrail@localhost"


def is_mail_set_up() -> bool:
    return bool(settings.MAIL_FROM)


def send_text(*, to: str, subject: str, text: str) -> bool:
    """Whether the mail server has taken it. Without one, nothing is sent."""
    return is_mail_set_up() and not hand_in(to=to, subject=subject, text=text)


def hand_in(*, to: str, subject: str, text: str) -> str:
    """Give a mail to the mail server; why it was not taken, empty where it was."""
    try:
        # A line break in a subject is refused by Django: what is quoted has none.
        send_mail(" ".join(subject.split()), text, settings.MAIL_FROM or _NOBODY, [to])
    except (OSError, SMTPException) as error:
        logger.exception("A mail could not be sent")
        return _describe(error)
    return ""


def _describe(error: Exception) -> str:
    """Quote the mail server, else say how it was missed."""
    if isinstance(error, SMTPRecipientsRefused):
        code, words = next(iter(error.recipients.values()))
        return _quote(code, words)
    if isinstance(error, SMTPResponseException):
        return _quote(error.smtp_code, error.smtp_error)
    return f"The mail server cannot be reached: {error}"


def _quote(code: int, words: bytes | str) -> str:
    said = words.decode(errors="replace") if isinstance(words, bytes) else words
    return f"The mail server answered: {code} {said}"
