"""The redactor with this server's key: what is kept or sent goes through here first."""

from __future__ import annotations

import hashlib
import hmac
from functools import lru_cache
from typing import TypeVar, cast

from django.conf import settings

from guidance.core.secrets import redact

T = TypeVar("T")


def fingerprint_key() -> bytes:
    """Made from the server's secret: fingerprints mean nothing without it."""
    return _made_from(settings.SECRET_KEY)


@lru_cache(maxsize=1)
def _made_from(secret: str) -> bytes:
    made = hmac.new(secret.encode(), b"checkrail.fingerprint.v1", hashlib.sha256)
    return made.digest()


def clean(value: T) -> T:
    """The same value, of the same shape, with a label in the place of every secret."""
    return cast("T", redact(value, fingerprint_key=fingerprint_key()).value)
