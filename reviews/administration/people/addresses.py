"""Mail addresses as people type them."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.core.validators import validate_email


def check_address(text: str) -> str:
    """The address without blanks around it; ValueError where it is none."""
    address = text.strip()
    try:
        validate_email(address)
    except ValidationError:
        raise ValueError("no mail address, such as dora@example.com") from None
    return address
