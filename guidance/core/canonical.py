"""One text for one value, and its digest: what rows and comparisons are made of.

Entries and digests of calls, which other programs compute, too, are written by
`guidance.core.jcs` instead; until format 2 of the ledger they were written by this.
"""

from __future__ import annotations

import hashlib
import json
from json.encoder import c_make_encoder, encode_basestring  # type: ignore[attr-defined]

# Made once: every step is written through it several times. What it is given was built
# from JSON or from frozen values, and cannot hold itself.
_encoder = json.JSONEncoder(
    sort_keys=True,
    separators=(",", ":"),
    ensure_ascii=False,
    allow_nan=False,
    check_circular=False,
)
# What `encode` makes anew for each call, which takes as long as writing a few fields.
_write = c_make_encoder(
    *(None, _encoder.default, encode_basestring, None),
    *(_encoder.key_separator, _encoder.item_separator),
    *(_encoder.sort_keys, _encoder.skipkeys, _encoder.allow_nan),
)


def to_canonical_json(value: object) -> str:
    """The value as JSON with sorted keys and no spaces; NaN and infinity are refused."""
    return "".join(_write(value, 0))


def hash_text(text: str) -> str:
    """SHA-256 of the text's UTF-8 bytes, named by its algorithm."""
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()
