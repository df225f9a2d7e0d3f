"""The redactor with this server's key: everything stored or sent passes through it."""

from __future__ import annotations

import hashlib
import hmac
from functools import lru_cache
from typing import TypeVar, cast

from django.conf import settings

from guidance.core.secrets import may_hold_secrets, redact

T = TypeVar("T")


def get_fingerprint_key() -> bytes:
    """The key of fingerprints, derived from the server's secret."""
    return _derive_key(settings.SECRET_KEY)


@lru_cache(maxsize=1)
def _derive_key(secret: str) -> bytes:
    derived = hmac.new(secret.encode(), b"checkrail.fingerprint.v1", hashlib.sha256)
    return derived.digest()


def clean(value: T) -> T:
    """The same value, of the same shape, with a label in the place of every secret."""
    if not may_hold_secrets(value):
        return value
    return cast("T", redact(value, fingerprint_key=get_fingerprint_key()).value)
