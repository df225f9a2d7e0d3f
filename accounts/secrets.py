"""Bearer secrets: how they are made, and the only form in which they are kept."""

from __future__ import annotations

import hashlib
import secrets

AGENT_PREFIX = "crk_"
PERSON_PREFIX = "crt_"


def create_secret(prefix: str) -> str:
    """256 random bits behind a prefix that says whose secret it is."""
    return prefix + secrets.token_urlsafe(32)


def hash_secret(secret: str) -> str:
    """What is stored. A plain hash is enough for 256 random bits."""
    return hashlib.sha256(secret.encode()).hexdigest()


def build_mark(stored: str) -> str:
    """Build what a ledger may say of a stored digest or a password's hash: it shows that
    one was changed, and leads back to neither."""
    return hashlib.sha256(f"checkrail stored secret\n{stored}".encode()).hexdigest()[
        :32
    ]


def get_prefix(secret: str) -> str:
    """The public part: finds the row and lets a person tell two keys apart."""
    return secret[:12]
