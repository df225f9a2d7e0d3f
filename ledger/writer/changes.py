"""The shape of a wish to change a run, and of what comes of it.

A change request decides: from the run's state and the time it makes a Change, or raises a
DomainError. It reads and writes nothing itself; the writer stores the Change together
with its entries in one transaction.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, ClassVar, Generic, TypeVar

from django.db.models import Model

from common.errors import DomainError
from common.ids import uuid7
from guidance.core.canonical import canonical
from ledger.chain import FORMAT, Link, hash_link, hash_payload, timestamp
from ledger.idempotency import Idempotency
from ledger.state import RunState
from ledger.writer.sql import Statement

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """An entry before it has its place in the chain."""

    type: str
    actor: str
    payload: dict[str, Any]
    step_number: int | None = None
    decision: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedEntry:
    """An entry with its place in the chain, ready to be stored."""

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

    def receipt(self) -> dict[str, Any]:
        return {"seq": self.seq, "hash": self.hash}


def nothing(_entries: Sequence[SealedEntry]) -> None:
    """The answer of a change that only has to be done. Others may look at what was
    written, so they are asked before the commit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change(Generic[T]):
    """What a change request wants: the new state, its entries, rows beside them, an answer.

    `rows` are inserted inside the transaction, after the run was won by compare-and-set,
    those of a batch together; then come `statements`, and then `effects`, each by itself.
    `wakes` says that somebody may be waiting for this very change, and `told` is what
    they may be told of it without a look at the database. A `refusal` is told instead of
    the answer, after the commit: what came too late is stored as such, so that it stays
    too late whatever the clock says next.
    """

    state: RunState
    drafts: Sequence[Draft]
    answer: Callable[[Sequence[SealedEntry]], T]
    rows: Sequence[Model] = ()
    statements: Sequence[Statement] = ()
    effects: Sequence[Callable[[], object]] = ()
    wakes: bool = False
    told: object = None
    refusal: DomainError | None = None


class LockRequired(Exception):
    """The change request can only be judged under the project's lock."""


@dataclass(kw_only=True)
class ChangeRequest(ABC, Generic[T]):
    """One wish. `locked` ones are judged under the project's lock, by its clock; the
    others only where `require_lock` says so."""

    locked: ClassVar[bool] = True
    run_code: str
    idempotency: Idempotency | None = None
    # Set by the writer: whether the project is held while this is judged.
    under_lock: bool = field(default=False, init=False)

    @property
    def source(self) -> Hashable:
        """Whoever sent it: senders take turns where change requests have to wait. None is the
        server itself."""
        names = ("agent", "person", "actor")
        return next(
            (getattr(self, name) for name in names if hasattr(self, name)), None
        )

    def require_lock(self) -> None:
        """For a decision that rests on more than this run, such as what all runs of the
        project have open: the writer judges it once more, while nobody else writes."""
        if not self.under_lock:
            raise LockRequired

    @abstractmethod
    def decide(self, run: RunState, at: datetime) -> Change[T]: ...


@dataclass(kw_only=True)
class NewRunRequest(ChangeRequest[T]):
    """A change request whose run does not exist yet: it inserts the bare row first."""

    run_code: str = field(default_factory=lambda: str(uuid7()))

    @property
    @abstractmethod
    def project_id(self) -> int: ...

    @abstractmethod
    def create(self, at: datetime) -> RunState: ...


def seal_entries(
    run: RunState, change: Change[Any], at: datetime
) -> tuple[RunState, tuple[SealedEntry, ...]]:
    """Chain the change's drafts behind the run's head."""
    seq, prev = run.head_seq, run.head_hash
    stamp = timestamp(at)
    entries = []
    for draft in change.drafts:
        seq += 1
        payload = canonical(draft.payload)
        hashed = hash_payload(payload)
        link = Link(
            version=FORMAT,
            run=run.code,
            seq=seq,
            at=stamp,
            type=draft.type,
            actor=draft.actor,
            payload_sha256=hashed,
            prev_hash=prev,
        )
        entry = SealedEntry(
            run_id=run.id,
            project_id=run.project_id,
            version=FORMAT,
            seq=seq,
            at=at,
            type=draft.type,
            actor=draft.actor,
            payload=payload,
            payload_sha256=hashed,
            prev_hash=prev,
            hash=hash_link(link),
            step_number=draft.step_number,
            decision=draft.decision,
        )
        entries.append(entry)
        prev = entry.hash
    state = replace(change.state, head_seq=seq, head_hash=prev, updated_at=at)
    return state, tuple(entries)
