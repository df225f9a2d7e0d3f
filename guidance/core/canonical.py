"""One text for one value, and its digest: what rows and comparisons are made of.

Entries and digests of calls, which other programs compute, too, are written by
`guidance.core.jcs` instead; until format 2 of the ledger they were written by this.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from json.encoder import c_make_encoder, encode_basestring  # type: ignore[attr-defined]
from typing import Any

from guidance.core.jcs import get_utf16_order, to_jcs

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


class KeptObject(dict[str, Any]):
    """An object that keeps the text of each field from when it was first written: what is
    stored and answered is written once. From then on nothing in it may change."""

    __slots__ = ("_texts",)

    def write_fields(self) -> dict[str, str]:
        """RFC 8785 of each field, by name."""
        if not hasattr(self, "_texts"):
            self._texts = {name: _write_part(part) for name, part in self.items()}
        return self._texts

    def write(self) -> str:
        """The same text as `to_jcs` makes of it."""
        fields = self.write_fields()
        return join_fields(
            (name, fields[name]) for name in sorted(fields, key=get_utf16_order)
        )


def join_fields(fields: Iterable[tuple[str, str]]) -> str:
    """An object of fields that are JSON already, in their order."""
    named = [f"{encode_basestring(name)}:{text}" for name, text in fields]
    return "{" + ",".join(named) + "}"


def _write_part(part: object) -> str:
    return part.write() if isinstance(part, KeptObject) else to_jcs(part)


def hash_text(text: str) -> str:
    """SHA-256 of the text's UTF-8 bytes, named by its algorithm."""
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()
