"""The hash chain: how one entry is bound to the one before it.

Every field goes in behind its length, so that no two different entries share a form.
The payload enters by its own hash and can therefore be erased without breaking the
chain. A new format gets a new number; the old ones stay verifiable for ever. Format 2 is
format 1 with payloads by RFC 8785, which any language writes alike.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, NamedTuple

FORMAT = 2
FORMATS = frozenset({1, FORMAT})
GENESIS = "0" * 64
# Lengths that are one byte as text, too, in four bytes.
_LENGTHS = [f"\0\0\0{length:c}" for length in range(128)]


class Link(NamedTuple):
    """An entry as the chain sees it."""

    version: int
    run: str
    seq: int
    at: str
    type: str
    actor: str
    payload_sha256: str
    prev_hash: str


class SealedEntry(NamedTuple):
    """An entry with its place in the chain, ready to be stored; `kept` is its payload as it
    is kept."""

    run_id: int
    project_id: int
    version: int
    seq: int
    at: datetime
    type: str
    actor: str
    payload: str
    payload_sha256: str
    prev_hash: str
    hash: str
    step_number: int | None
    decision: str
    kept: str

    def build_receipt(self) -> dict[str, Any]:
        return {"seq": self.seq, "hash": self.hash}


@lru_cache(maxsize=16)  # the entries of a batch have one time
def format_timestamp(at: datetime) -> str:
    """RFC 3339 in UTC with microseconds and Z: the one spelling that is hashed."""
    return at.astimezone(UTC).isoformat(timespec="microseconds")[:-6] + "Z"


def hash_payload(payload: str) -> str:
    return hashlib.sha256(payload.encode()).hexdigest()


def hash_link(link: Link) -> str:
    """The entry's hash; an unknown format is an error, never a pass."""
    return hash_fields(*link)


def hash_fields(
    version: int,
    run: str,
    seq: int,
    at: str,
    kind: str,
    actor: str,
    hashed: str,
    prev: str,
) -> str:
    """The same of the fields of a link, in their order."""
    if version not in FORMATS:
        raise ValueError(f"Ledger format {version} is not known.")
    form, place = str(version), str(seq)
    size = _LENGTHS
    try:
        # Encoded at once (bench steps).
        text = (
            f"{size[15]}checkrail.entry{size[len(form)]}{form}{size[len(run)]}{run}"
            f"{size[len(place)]}{place}{size[len(at)]}{at}{size[len(kind)]}{kind}"
            f"{size[len(actor)]}{actor}{size[len(hashed)]}{hashed}{size[len(prev)]}{prev}"
        )
    except IndexError:  # one of them is longer
        text = ""
    if text and text.isascii():
        return hashlib.sha256(text.encode()).hexdigest()
    fields = ("checkrail.entry", form, run, place, at, kind, actor, hashed, prev)
    return hashlib.sha256(_join_measured(fields)).hexdigest()


def _join_measured(fields: Sequence[str]) -> bytes:
    """Each behind its length, in four bytes."""
    raw = [field.encode() for field in fields]
    return b"".join([len(each).to_bytes(4, "big") + each for each in raw])
