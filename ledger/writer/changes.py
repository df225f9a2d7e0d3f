"""Change requests, and the entries that their changes become.

First it loads what it has to know beside the run, then it decides: from that, the run's
state and the time it makes a Change, or raises a DomainError. `decide` is pure: it asks
the database nothing. The writer stores the Change with its entries in one transaction.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from time import monotonic
from typing import ClassVar, Generic, NamedTuple, TypeVar

from common.ids import uuid7
from guidance.core.jcs import to_jcs
from guidance.core.runs.shared_limits import NOTHING_SHARED, SharedUse
from ledger.chain import (
    FORMAT,
    SealedEntry,
    format_timestamp,
    hash_fields,
    hash_payload,
)
from ledger.idempotency import Idempotency
from ledger.models.packing import pack_text
from ledger.plan import Change, Plan
from ledger.state import RunState

T = TypeVar("T")


class LockRequired(Exception):
    """The change request can only be decided under the project's lock."""


class SeenRun(NamedTuple):
    """A run as it was read, when that was by the database's clock and by this process's
    (`time.monotonic`), and by which halts."""

    at: datetime
    read_at: float
    halts_version: int
    run: RunState

    def compute_now(self) -> datetime:
        """What the database's clock says now, but for half of what its answer took."""
        return self.at + timedelta(seconds=monotonic() - self.read_at)


@dataclass(kw_only=True)
class ChangeRequest(ABC, Generic[T]):
    """One change that somebody asks for. `locked` ones are decided under the project's
    lock, by its clock; the others only where `require_lock` says so. `shares`: it is decided
    by limits that the run shares with others. `obeys_halts`: nothing of it is stored while a
    halt covers its run. `moves_deadlines`: it comes before whatever judges a deadline."""

    locked: ClassVar[bool] = True
    shares: ClassVar[bool] = False
    obeys_halts: ClassVar[bool] = False
    moves_deadlines: ClassVar[bool] = False
    run_code: str
    idempotency: Idempotency | None = None
    # Set by the writer once `decide` has asked for the lock.
    needs_lock: bool = field(default=False, init=False)
    # Set by the writer before `load`, under the lock: a halt holds the run.
    halted: bool = field(default=False, init=False)
    # Set by the writer before `load`, where `shares`: what the run shares with others.
    shared: SharedUse = field(default=NOTHING_SHARED, init=False)
    # Its run, where whoever sent it has just read that: worth trying, never worth believing.
    seen_run: SeenRun | None = field(default=None, init=False)

    @property
    def source(self) -> Hashable:
        """Whoever sent it: senders take turns where change requests have to wait. None is the
        server itself."""
        names = ("agent", "person", "actor")
        return next(
            (getattr(self, name) for name in names if hasattr(self, name)), None
        )

    def is_past(self, deadline: datetime, at: datetime) -> bool:
        """Whether it is over. While a halt holds the run, deadlines stand still."""
        return at >= deadline and not self.halted

    def require_lock(self) -> None:
        """For a decision that rests on more than this run, such as what all runs of the
        project have open: the writer loads and decides once more, with `needs_lock` set,
        while nobody else writes to the project."""
        if not self.needs_lock:
            raise LockRequired

    def load(self, run: RunState, at: datetime) -> None:
        """Read what `decide` needs beside the run, into fields of this request.

        Called before every `decide`. It runs under the project's lock where the request
        is `locked` or `needs_lock`; what is costly waits for `needs_lock`. The run's
        policy is in memory already.
        """

    def rests_on_run_alone(self, run: RunState) -> bool:
        """Whether `load` reads nothing: then it may be decided on its `seen_run`."""
        return False

    def write_again(self, seq: int) -> str:
        """The text of the answer that was `written_from` this entry, once more. For requests
        whose answers say so."""
        raise NotImplementedError

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
    run: RunState, plan: Plan, at: datetime
) -> tuple[RunState, tuple[SealedEntry, ...]]:
    """Chain the plan's drafts behind the run's head."""
    run_id, project_id, code = run.id, run.project_id, run.code
    seq, prev = run.head_seq, run.head_hash
    stamp = format_timestamp(at)
    entries = []
    for kind, actor, stated, step_number, decision in plan.drafts:
        seq += 1
        if isinstance(stated, dict):
            payload = to_jcs(stated)
            # Of steps, which no query searches for words.
            kept = payload if step_number is None else pack_text(payload)
        else:
            payload, kept = stated.write()
        hashed = hash_payload(payload)
        # By their places: by name it takes twice as long (bench steps).
        sealed = hash_fields(FORMAT, code, seq, stamp, kind, actor, hashed, prev)
        entries.append(
            SealedEntry(
                run_id,
                project_id,
                FORMAT,
                seq,
                at,
                kind,
                actor,
                payload,
                hashed,
                prev,
                sealed,
                step_number,
                decision,
                kept,
            )
        )
        prev = sealed
    state = plan.run.copy_with(head_seq=seq, head_hash=prev, updated_at=at)
    return state, tuple(entries)
