"""Is a run's chain whole? Every link and every payload is checked, and the head.

The run's row is checked as far as it follows from the entries without judging again: its
status, what waits, its budget, its last step. `ledger.verification.replay` judges again.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

from django.core.exceptions import ObjectDoesNotExist

from ledger.chain import GENESIS, Link, format_timestamp, hash_link, hash_payload
from ledger.entry_types import apply_entry, get_entry_type
from ledger.models import Entry, Run
from ledger.state import (
    COLUMNS,
    RunState,
    build_state,
    build_unstarted_state,
    list_column_values,
)
from ledger.verification.row_checks import compare_runs
from ledger.verification.unreadable import describe, read_entries, refuse_other


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
    """Walk the stored chain from its beginning to the head the run claims.

    A run may move while it is walked: its head is read after the entries, and the
    walk goes on for as long as there is more.
    """
    seq, prev, position, state = 0, GENESIS, 0, build_unstarted_state(run)
    while True:
        before = seq
        entries = run.entries.filter(seq__gt=seq).order_by("seq")
        try:
            for entry in read_entries(entries):
                reason = _find_fault(
                    entry, run=run, after=seq, prev=prev, position=position
                )
                if reason is None:
                    state, reason = _apply_entry(state, entry)
                if reason is not None:
                    return _build_broken(seq=seq, prev=prev, bad=seq + 1, reason=reason)
                seq, prev, position = entry.seq, entry.hash, entry.position
        except Exception as error:
            refuse_other(error)
            return _build_broken(
                seq=seq, prev=prev, bad=seq + 1, reason=describe(error)
            )
        row = Run.objects.get(pk=run.pk)
        if (seq, prev) == (row.head_seq, row.head_hash):
            reason = _find_row_fault(row, state) or _describe_lost_row(run)
            if reason is not None:
                return _build_broken(seq=seq, prev=prev, bad=seq, reason=reason)
            return Verification(entries=seq, head_seq=seq, head_hash=prev)
        if row.head_seq > seq > before:
            continue
        bad = min(seq, row.head_seq) + 1
        reason = f"the run's head is {row.head_seq}, its chain ends at {seq}"
        return _build_broken(seq=seq, prev=prev, bad=bad, reason=reason)


def verify_run_and_rows(run: Run) -> Verification:
    """The chain, and where it is whole also the rows that stand beside it."""
    result = verify_run(run)
    if result.ok and (differs := compare_runs([run])):
        first = min(differs, key=lambda each: each.seq)
        return replace(result, first_bad_seq=first.seq, reason=first.reason)
    return result


def _apply_entry(state: RunState, entry: Entry) -> tuple[RunState, str | None]:
    """The run after this entry, taking what was decided as it stands there."""
    try:
        state = apply_entry(state, entry.type, json.loads(entry.payload), entry.at)
    except Exception as error:
        refuse_other(error)
        return state, describe(error)
    return replace(state, updated_at=entry.at), None


# What needs no gate to be told from the entries.
_TOLD = frozenset(
    {
        *("status", "status_reason", "last_decision", "last_step", "open_reviews"),
        *("tokens_limit", "tool_calls_limit", "time_ms_limit", "cost_micros_limit"),
        *("updated_at", "finished_at"),
        *("running_ms", "running_since", "time_over_at"),
    }
)


def _find_row_fault(row: Run, state: RunState) -> str | None:
    for (name, _), said in zip(COLUMNS, list_column_values(state), strict=True):
        stored = getattr(row, name)
        if name in _TOLD and stored != said:
            return f"the run's {name} is {stored}, the chain says {said}"
    try:
        notes = build_state(row).notes
    except Exception as error:
        # What waits is what the chain says by now: the memory alone is left.
        refuse_other(error)
        return f"the run's memory is damaged: {describe(error)}"
    if notes != state.notes:
        said = state.notes.to_json()
        return f"the run's unread notes are {notes.to_json()}, the chain says {said}"
    return None


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
        return _find_column_fault(entry, run=run, position=position)
    except Exception as error:
        # Whoever recomputed the hash need not have left anything readable.
        refuse_other(error)
        return describe(error)


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


def _find_column_fault(entry: Entry, *, run: Run, position: int) -> str | None:
    """Columns that are not hashed repeat what is, or keep its order."""
    columns = get_entry_type(entry.type).columns(json.loads(entry.payload))
    if (entry.step_number, entry.decision) != columns:
        return "its step or decision column differs from its payload"
    if entry.project_id != run.project_id:
        return "it stands in another project than its run"
    if entry.position <= position:
        return "its position is not after that of the entry before it"
    return None
