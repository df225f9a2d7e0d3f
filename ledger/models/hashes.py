"""SHA-256 as the database keeps it: base64 without padding, 43 characters in place of 64
hexadecimal ones. Rows of both forms stand side by side."""

from __future__ import annotations

from base64 import urlsafe_b64decode
from binascii import b2a_base64

HEX_LENGTH, SHORT_LENGTH = 64, 43
_URL_SAFE = bytes.maketrans(b"+/", b"-_")


def shorten_hash(digest: str) -> str:
    text = b2a_base64(bytes.fromhex(digest), newline=False)
    return text.translate(_URL_SAFE).rstrip(b"=").decode()


def expand_hash(kept: str) -> str:
    """In hexadecimal; whatever is no hash stays as it is, and fits no chain."""
    if len(kept) != SHORT_LENGTH:
        return kept
    try:
        digest = urlsafe_b64decode(f"{kept}=").hex()
    except ValueError:
        return kept
    return (
        digest if len(digest) == HEX_LENGTH and shorten_hash(digest) == kept else kept
    )
