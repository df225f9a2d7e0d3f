"""The system check of the receivers that an operator allows beside public ones."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, register

from common.commands import SETTINGS
from webhooks.addresses import parse_allowed


@register(SETTINGS)
def check_allowed_receivers(**_options: Any) -> list[CheckMessage]:
    try:
        parse_allowed(settings.WEBHOOK_ALLOW)
    except ValueError as error:
        message = f"CHECKRAIL_WEBHOOK_ALLOW cannot be used: {error}."
        return [Error(message, id="webhooks.E001")]
    return []
