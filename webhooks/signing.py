"""Secrets of webhooks, and the signed headers of Standard Webhooks 1.0.

A secret is not stored. It is derived from SECRET_KEY, the endpoint and a random salt, so
that a copy of the database is not enough to sign. Another SECRET_KEY derives other
secrets: nothing is sent then until the secret is rotated.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from datetime import datetime, timedelta

from django.conf import settings
from standardwebhooks import Webhook

from accounts.secrets import hash_secret
from webhooks.models import WebhookEndpoint

PREFIX = "whsec_"
ROTATION = timedelta(hours=24)


def create_salt() -> str:
    return secrets.token_hex(32)


def derive_secret(*, code: str, salt: str) -> str:
    """256 bits, in the form that receivers get."""
    key = hmac.digest(
        settings.SECRET_KEY.encode(), b"checkrail.webhooks.v1", hashlib.sha256
    )
    derived = hmac.digest(key, f"{code}.{salt}".encode(), hashlib.sha256)
    return PREFIX + base64.b64encode(derived).decode()


def get_secret(endpoint: WebhookEndpoint) -> str:
    return derive_secret(code=str(endpoint.code), salt=endpoint.salt)


def is_key_unchanged(endpoint: WebhookEndpoint) -> bool:
    """Whether the derived secret is still the one that the receiver got."""
    return hmac.compare_digest(
        hash_secret(get_secret(endpoint)), endpoint.secret_digest
    )


def list_valid_secrets(endpoint: WebhookEndpoint, *, at: datetime) -> tuple[str, ...]:
    """The current secret and, for a day after a rotation, the previous one."""
    current = get_secret(endpoint)
    if endpoint.previous_until is None or at >= endpoint.previous_until:
        return (current,)
    previous = derive_secret(code=str(endpoint.code), salt=endpoint.previous_salt)
    return (current, previous)


def build_signed_headers(
    *, webhook_id: str, at: datetime, body: str, secrets: tuple[str, ...]
) -> dict[str, str]:
    signatures = (
        Webhook(secret).sign(msg_id=webhook_id, timestamp=at, data=body)
        for secret in secrets
    )
    return {
        "webhook-id": webhook_id,
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": " ".join(signatures),
    }
