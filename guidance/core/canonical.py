"""One text for one value, and its digest: what hashes and comparisons are made of."""

from __future__ import annotations

import hashlib
import json

# Made once: every step is written through it three times. What it is given was built
# from JSON or from frozen values, and cannot hold itself.
_encoder = json.JSONEncoder(
    sort_keys=True,
    separators=(",", ":"),
    ensure_ascii=False,
    allow_nan=False,
    check_circular=False,
)


def to_canonical_json(value: object) -> str:
    """The value as JSON with sorted keys and no spaces; NaN and infinity are refused."""
    return _encoder.encode(value)


def hash_text(text: str) -> str:
    """SHA-256 of the text's UTF-8 bytes, named by its algorithm."""
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()
