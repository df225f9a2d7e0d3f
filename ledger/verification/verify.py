"""Is a run's chain whole? Every link and every payload is checked, the head, and the run's row.

Every column of the row follows from the entries: all of them are compared, and nothing is
judged again for it. `ledger.verification.replay` judges again.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

from django.core.exceptions import ObjectDoesNotExist
from django.db.models import QuerySet

from ledger.chain import GENESIS, Link, format_timestamp, hash_link, hash_payload
from ledger.entry_types import count_entry, get_entry_type
from ledger.models import Entry, Run
from ledger.state import build_unstarted_state
from ledger.verification.row_checks import compare_runs
from ledger.verification.run_row import (
    RowDifference,
    RunPolicies,
    compare_columns,
    compare_start,
)
from ledger.verification.shared_use import RunUse
from ledger.verification.snapshot import read_snapshot
from ledger.verification.unreadable import describe, read_entries, refuse_other


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    entries: int
    head_seq: int
    head_hash: str
    first_bad_seq: int | None = None
    reason: str | None = None
    # What the run took from limits that it shares; None where its chain is not whole.
    use: RunUse | None = None

    @property
    def ok(self) -> bool:
        return self.first_bad_seq is None


def read_runs() -> QuerySet[Run]:
    """Runs as they are checked, in their order."""
    # Not joined: a run whose agent or policy was deleted would fall out unseen.
    names = ("project", "agent", "policy", "parent")
    return Run.objects.prefetch_related(*names).order_by("pk")


def verify_run(run: Run) -> Verification:
    """The chain and the run's row as they are now, whatever is in `run`."""
    with read_snapshot():
        return verify_row(read_runs().get(pk=run.pk))


def verify_run_and_rows(run: Run) -> Verification:
    """The chain, and where it is whole also the rows that stand beside it."""
    with read_snapshot():
        result = verify_run(run)
        if result.ok and (differs := compare_runs([run])):
            first = min(differs, key=lambda each: each.seq)
            return replace(result, first_bad_seq=first.seq, reason=first.reason)
        return result


def verify_row(run: Run) -> Verification:
    """Walk the stored chain from its beginning to the head that `run` has: both were read
    from one snapshot."""
    seq, prev, position = 0, GENESIS, 0
    lost = _describe_lost_row(run)
    try:
        walk = _RowWalk(run, is_counted=lost is None)
        for entry in read_entries(run.entries.order_by("seq")):
            reason = _find_fault(
                entry, run=run, after=seq, prev=prev, position=position
            ) or walk.take(entry)
            if reason is not None:
                return _build_broken(seq=seq, prev=prev, bad=seq + 1, reason=reason)
            seq, prev, position = entry.seq, entry.hash, entry.position
    except Exception as error:
        refuse_other(error)
        return _build_broken(seq=seq, prev=prev, bad=seq + 1, reason=describe(error))
    if (seq, prev) != (run.head_seq, run.head_hash):
        bad = min(seq, run.head_seq) + 1
        reason = f"the run's head is {run.head_seq}, its chain ends at {seq}"
        return _build_broken(seq=seq, prev=prev, bad=bad, reason=reason)
    whole = Verification(entries=seq, head_seq=seq, head_hash=prev, use=walk.use)
    bad, reason = (seq, lost) if lost else walk.find_row_fault()
    return replace(whole, first_bad_seq=bad, reason=reason) if reason else whole


class _RowWalk:
    """A run's row as it follows from the entries. Without what the run leans on it is not
    counted."""

    def __init__(self, run: Run, *, is_counted: bool) -> None:
        self._run = run
        self._state = build_unstarted_state(run)
        self._policies = RunPolicies(run) if is_counted else None
        self._start: tuple[int, RowDifference] | None = None
        self.use = RunUse(run)

    def take(self, entry: Entry) -> str | None:
        """The run after this entry, taking what was decided as it stands there; or why
        that cannot be told."""
        try:
            payload = json.loads(entry.payload)
            reason = _find_column_fault(entry, payload)
            if reason is None and self._policies is not None:
                self._count(entry, payload, self._policies)
        except Exception as error:
            refuse_other(error)
            return describe(error)
        return reason

    def _count(
        self, entry: Entry, payload: dict[str, Any], policies: RunPolicies
    ) -> None:
        policies.take(entry.type, payload)
        if entry.type == "run.started":
            found = compare_start(self._run, entry, payload, policies.first)
            self._start = None if found is None else (entry.seq, found)
        policy, before = policies.get_policy(payload), self._state
        after = count_entry(before, entry.type, payload, entry.at, policy)
        self._state = after.copy_with(
            head_seq=entry.seq, head_hash=entry.hash, updated_at=entry.at
        )
        self.use.add(entry.at, after.spent.subtract(before.spent))

    def find_row_fault(self) -> tuple[int, str | None]:
        """The entry that says so, and the first column that is not what it says."""
        seq, found = self._start or (self._run.head_seq, None)
        if found is None and self._policies is not None:
            found = self._policies.compare(self._run)
            found = found or compare_columns(self._run, self._state)
        if found is None:
            return seq, None
        name, stored, said = found
        return seq, f"the run's {name} is {stored}, the chain says {said}"


def _describe_lost_row(run: Run) -> str | None:
    """What the run leans on may have been deleted with the foreign keys switched off."""
    for name in ("project", "agent", "policy"):
        try:
            getattr(run, name)
        except ObjectDoesNotExist:
            return f"the run's {name} is gone"
    return None


def _build_broken(*, seq: int, prev: str, bad: int, reason: str) -> Verification:
    return Verification(
        entries=seq, head_seq=seq, head_hash=prev, first_bad_seq=bad, reason=reason
    )


def _find_fault(
    entry: Entry, *, run: Run, after: int, prev: str, position: int
) -> str | None:
    """What is wrong with this entry as the next one; None when nothing is."""
    if entry.seq != after + 1:
        return f"entry {after + 1} is missing"
    if entry.prev_hash != prev:
        return "it does not follow the entry before it"
    if hash_payload(entry.payload) != entry.payload_sha256:
        return "its payload was changed"
    try:
        if _hash(entry, run=run) != entry.hash:
            return "its hash does not fit its fields"
    except Exception as error:
        # Whoever recomputed the hash need not have left anything readable.
        refuse_other(error)
        return describe(error)
    if entry.project_id != run.project_id:
        return "it stands in another project than its run"
    if entry.position <= position:
        return "its position is not after that of the entry before it"
    return None


def _hash(entry: Entry, *, run: Run) -> str:
    return hash_link(
        Link(
            version=entry.version,
            run=str(run.code),
            seq=entry.seq,
            at=format_timestamp(entry.at),
            type=entry.type,
            actor=entry.actor,
            payload_sha256=entry.payload_sha256,
            prev_hash=entry.prev_hash,
        )
    )


def _find_column_fault(entry: Entry, payload: dict[str, Any]) -> str | None:
    """Columns that are not hashed repeat what is."""
    columns = get_entry_type(entry.type).columns(payload)
    if (entry.step_number, entry.decision) != columns:
        return "its step or decision column differs from its payload"
    return None
