"""Secrets of endpoints, and the headers of Standard Webhooks 1.0.

A secret is not stored. It is made from the server's key, the endpoint and a random salt,
so that neither the database nor a backup of it lets anybody sign. With another SECRET_KEY
other secrets would come out: nothing is sent then until the secret was rotated.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from datetime import datetime, timedelta

from django.conf import settings
from standardwebhooks import Webhook

from accounts.secrets import digest
from webhooks.models import WebhookEndpoint

PREFIX = "whsec_"
ROTATION = timedelta(hours=24)


def new_salt() -> str:
    return secrets.token_hex(32)


def secret_from(*, code: str, salt: str) -> str:
    """256 bits, as receivers are given them."""
    key = hmac.digest(
        settings.SECRET_KEY.encode(), b"checkrail.webhooks.v1", hashlib.sha256
    )
    made = hmac.digest(key, f"{code}.{salt}".encode(), hashlib.sha256)
    return PREFIX + base64.b64encode(made).decode()


def secret_of(endpoint: WebhookEndpoint) -> str:
    return secret_from(code=str(endpoint.code), salt=endpoint.salt)


def key_is_the_same(endpoint: WebhookEndpoint) -> bool:
    """Whether what we would sign with is what the receiver was given."""
    return hmac.compare_digest(digest(secret_of(endpoint)), endpoint.secret_digest)


def valid_secrets(endpoint: WebhookEndpoint, *, at: datetime) -> tuple[str, ...]:
    """The current one, and after a rotation for a while also the one before."""
    current = secret_of(endpoint)
    if endpoint.previous_until is None or at >= endpoint.previous_until:
        return (current,)
    before = secret_from(code=str(endpoint.code), salt=endpoint.previous_salt)
    return (current, before)


def signed_headers(
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
