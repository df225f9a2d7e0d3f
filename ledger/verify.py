"""Is a run's chain whole? Every link and every payload is checked, and the head."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from ledger.chain import GENESIS, Link, link_hash, payload_hash, timestamp
from ledger.models import Entry, Run


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    entries: int
    head_seq: int
    head_hash: str
    first_bad_seq: int | None = None
    reason: str | None = None

    @property
    def ok(self) -> bool:
        return self.first_bad_seq is None


def verify_run(run: Run) -> Verification:
    """Walk the stored chain from its beginning to the head the run claims."""
    seq, prev = 0, GENESIS
    entries: Iterable[Entry] = run.entries.order_by("seq").iterator(chunk_size=1000)
    for entry in entries:
        reason = _fault(entry, run=str(run.code), seq=seq + 1, prev=prev)
        if reason is not None:
            return Verification(
                entries=seq,
                head_seq=seq,
                head_hash=prev,
                first_bad_seq=seq + 1,
                reason=reason,
            )
        seq, prev = entry.seq, entry.hash
    if (seq, prev) != (run.head_seq, run.head_hash):
        return Verification(
            entries=seq,
            head_seq=seq,
            head_hash=prev,
            first_bad_seq=min(seq, run.head_seq) + 1,
            reason=f"the run's head is {run.head_seq}, its chain ends at {seq}",
        )
    return Verification(entries=seq, head_seq=seq, head_hash=prev)


def _fault(entry: Entry, *, run: str, seq: int, prev: str) -> str | None:
    """What is wrong with this entry as the next one; None when nothing is."""
    if entry.seq != seq:
        return f"entry {seq} is missing"
    if entry.prev_hash != prev:
        return "it does not follow the entry before it"
    if payload_hash(entry.payload) != entry.payload_sha256:
        return "its payload was changed"
    link = Link(
        version=entry.version,
        run=run,
        seq=entry.seq,
        at=timestamp(entry.at),
        type=entry.type,
        actor=entry.actor,
        payload_sha256=entry.payload_sha256,
        prev_hash=entry.prev_hash,
    )
    try:
        expected = link_hash(link)
    except ValueError as error:
        return str(error)
    if expected != entry.hash:
        return "its hash does not fit its fields"
    return _column_fault(entry)


def _column_fault(entry: Entry) -> str | None:
    """Two columns repeat the payload for fast lists: they must say the same."""
    payload = json.loads(entry.payload)
    judged = entry.type == "step.judged"
    number = payload["report"]["number"] if judged else None
    decision = payload["verdict"]["decision"] if judged else ""
    if (entry.step_number, entry.decision) != (number, decision):
        return "its step or decision column differs from its payload"
    return None
