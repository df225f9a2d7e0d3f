"""Judge a run again from its stored chain: the same facts must give the same answer.

Apps that judge something register how an entry of theirs is judged again, at start-up:

    register_replay("turn.judged", replay_turn)

It gets a `ReplayedEntry` and returns the run's state after the entry (mostly `applied`),
and the first difference, or None. Gates change: what an older version of them has judged
is not held against a newer one, but applied as it stands and counted (`Skipped`). Entries of
all other types are applied as they stand.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from guidance.core.canonical import to_canonical_json
from guidance.core.jcs import to_jcs
from guidance.core.policy import Policy
from guidance.models import PolicyVersion
from ledger.entry_types import apply_entry
from ledger.models import Entry, Run
from ledger.state import RunState, build_unstarted_state
from ledger.verification.run_row import (
    RowDifference,
    RunPolicies,
    compare_columns,
    compare_start,
)
from ledger.verification.unreadable import describe, read_entries, refuse_other


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """The first place where the replay and the record part."""

    seq: int
    what: str
    stored: Any
    replayed: Any

    def __str__(self) -> str:
        return (
            f"entry {self.seq}: {self.what} is stored as {to_canonical_json(self.stored)}, "
            f"replayed as {to_canonical_json(self.replayed)}"
        )


@dataclass(frozen=True, slots=True)
class Skipped:
    """An entry that an older version of the gates has judged: not judged again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """How a replay ended: where it differs, and how many entries were not judged again."""

    difference: Difference | None
    skipped: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayedEntry:
    """An entry to judge again: `state` is the run's before it, `policy` the one to judge
    by, and `tried` is set where that is not the run's own."""

    run: Run
    entry: Entry
    payload: dict[str, Any]
    state: RunState
    policy: Policy
    tried: Policy | None
    begun_under: PolicyVersion

    @property
    def applied(self) -> RunState:
        """The run's state after the entry, taking what was decided as it stands."""
        return apply_entry(self.state, self.entry.type, self.payload, self.entry.at)

    def build_difference(self, what: str, stored: Any, replayed: Any) -> Difference:
        return _build_difference(self.entry.seq, what, stored, replayed)

    def compare(
        self, stored: Mapping[str, Any], again: Mapping[str, Any]
    ) -> Difference | None:
        """The first part of a verdict that does not come out again. Under another policy
        only what was decided is compared, and by which gates: figures and words depend on
        the limits, and another policy has others."""
        if self.tried is not None:
            stored, again = _pick_decisions(stored), _pick_decisions(again)
        for name, before in stored.items():
            # As they are written: tuples are lists, and 1.0 is 1.
            if to_jcs(again.get(name)) != to_jcs(before):
                return self.build_difference(name, before, again.get(name))
        return None


Outcome = tuple[RunState, Difference | Skipped | None]
Replay = Callable[[ReplayedEntry], Outcome]
_replays: dict[str, Replay] = {}


def register_replay(entry_type: str, replay: Replay) -> None:
    """For apps at start-up."""
    _replays[entry_type] = replay


def replay_run(run: Run, *, policy: Policy | None = None) -> Replayed:
    """Judge every entry again, under the run's own policy unless another is given.

    Under its own policy the whole run must come out again, its row included; under
    another one only the decisions are compared, with the gates that made them, up to the
    first that differs.
    """
    state = build_unstarted_state(run)
    # Up to the head this row knows: the run may have moved on since it was read.
    entries = run.entries.filter(seq__lte=run.head_seq).order_by("seq")
    stored: Any = None
    skipped = 0
    try:
        policies = RunPolicies(run)
        for entry in read_entries(entries):
            stored = entry.payload
            payload = json.loads(entry.payload)
            policies.take(entry.type, payload)
            state, outcome = _replay_entry(
                ReplayedEntry(
                    run=run,
                    entry=entry,
                    payload=payload,
                    state=state,
                    policy=policy or policies.get_policy(payload),
                    tried=policy,
                    begun_under=policies.first,
                )
            )
            if isinstance(outcome, Difference):
                return Replayed(difference=outcome, skipped=skipped)
            skipped += outcome is not None
            stored = None
            state = replace(
                state, head_seq=entry.seq, head_hash=entry.hash, updated_at=entry.at
            )
    except Exception as error:
        refuse_other(error)
        broken = _build_difference(
            state.head_seq + 1, "the entry", stored, describe(error)
        )
        return Replayed(difference=broken, skipped=skipped)
    row = None if policy else policies.compare(run) or compare_columns(run, state)
    difference = None if row is None else _build_row_difference(run.head_seq, row)
    return Replayed(difference=difference, skipped=skipped)


def _replay_entry(item: ReplayedEntry) -> Outcome:
    if item.entry.type == "run.started":
        start = compare_start(item.run, item.entry, item.payload, item.begun_under)
        differs = start and _build_row_difference(item.entry.seq, start)
        return item.applied, differs
    replay = _replays.get(item.entry.type)
    return (item.applied, None) if replay is None else replay(item)


def _build_difference(seq: int, what: str, stored: Any, replayed: Any) -> Difference:
    return Difference(seq=seq, what=what, stored=stored, replayed=replayed)


def _build_row_difference(seq: int, found: RowDifference) -> Difference:
    return _build_difference(seq, f"the run's {found.name}", found.stored, found.said)


def _pick_decisions(verdict: Mapping[str, Any]) -> Mapping[str, Any]:
    decided = {n: verdict[n] for n in ("decision", "action", "outcome") if n in verdict}
    if "findings" in verdict:
        gates = [[each["gate"], each["decision"]] for each in verdict["findings"]]
        decided["findings"] = gates
    return decided
