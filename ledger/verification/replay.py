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

from guidance.core.canonical import hash_text, to_canonical_json
from guidance.core.jcs import to_jcs
from guidance.core.policy import Policy, load_policy
from guidance.models import PolicyVersion
from ledger.chain import format_timestamp
from ledger.entry_types import apply_entry
from ledger.models import Entry, Run
from ledger.state import (
    COLUMNS,
    RunState,
    build_unstarted_state,
    list_column_values,
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


# The entry that moves a run to another version of its policy.
MOVED = "run.policy_changed"
Outcome = tuple[RunState, Difference | Skipped | None]
Replay = Callable[[ReplayedEntry], Outcome]
_replays: dict[str, Replay] = {}


def register_replay(entry_type: str, replay: Replay) -> None:
    """For apps at start-up."""
    _replays[entry_type] = replay


class RunPolicies:
    """The versions of policies that a run is judged by, one after the other.

    Most runs have one. Where a person moved the run to another version, each decision
    names the one that it was made by: a call may have been judged just before the move.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        moves = run.entries.filter(type=MOVED).order_by("seq").values_list("payload")
        first = moves.first()
        begun = None if first is None else json.loads(first[0])["before"]
        self.first = run.policy if begun is None else self._get_version(begun)
        self._last = self.first
        self._policies = {self._build_key(self.first): self._load(self.first)}

    def take(self, entry_type: str, payload: Mapping[str, Any]) -> None:
        if entry_type == MOVED:
            self._last = self._get_version(payload["policy"])
            self._policies[self._build_key(self._last)] = self._load(self._last)

    def get_policy(self, payload: Mapping[str, Any]) -> Policy:
        """By the stamp of a decision, if the run had that version by then."""
        stamp = payload.get("policy")
        if len(self._policies) > 1 and isinstance(stamp, dict):
            return self._policies[stamp["name"], stamp["version"]]
        return self._policies[self._build_key(self._last)]

    def compare(self, run: Run) -> Difference | None:
        if self._last.pk == run.policy_id:
            return None
        stored, replayed = str(run.policy), str(self._last)
        return _build_difference(run.head_seq, "the run's policy", stored, replayed)

    def _get_version(self, stamp: Mapping[str, Any]) -> PolicyVersion:
        version = PolicyVersion.objects.get(
            project_id=self._run.project_id,
            name=stamp["name"],
            version=stamp["version"],
        )
        if hash_text(version.document) != stamp["hash"]:
            raise ValueError(f"the policy {version} is not the one that is named")
        return version

    @staticmethod
    def _build_key(version: PolicyVersion) -> tuple[str, int]:
        return version.name, version.version

    @staticmethod
    def _load(version: PolicyVersion) -> Policy:
        return load_policy(json.loads(version.document))


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
    difference = None if policy else policies.compare(run) or _compare_row(run, state)
    return Replayed(difference=difference, skipped=skipped)


def _replay_entry(item: ReplayedEntry) -> Outcome:
    if item.entry.type == "run.started":
        return item.applied, _compare_start(item)
    replay = _replays.get(item.entry.type)
    return (item.applied, None) if replay is None else replay(item)


def _build_difference(seq: int, what: str, stored: Any, replayed: Any) -> Difference:
    return Difference(seq=seq, what=what, stored=stored, replayed=replayed)


def _pick_decisions(verdict: Mapping[str, Any]) -> Mapping[str, Any]:
    decided = {n: verdict[n] for n in ("decision", "action", "outcome") if n in verdict}
    if "findings" in verdict:
        gates = [[each["gate"], each["decision"]] for each in verdict["findings"]]
        decided["findings"] = gates
    return decided


def _compare_start(item: ReplayedEntry) -> Difference | None:
    """What a run begins with never changes: neither its row nor its policy may."""
    run, payload = item.run, item.payload
    parent = str(run.parent.code) if run.parent else None
    above = f"{run.parent.lineage}{run.parent.pk}/" if run.parent else ""
    version = item.begun_under
    policy = {
        "name": version.name,
        "version": version.version,
        "hash": hash_text(version.document),
    }
    # The same, as it is handed on to the decisions.
    named = {**policy, "hash": version.hash}
    pairs = {
        "created_at": (
            format_timestamp(item.entry.at),
            format_timestamp(run.created_at),
        ),
        "agent": (item.entry.actor, f"agent:{run.agent.code}"),
        "task": (payload["task"], run.task),
        "intent": (payload["intent"], run.intent),
        "model": (payload["model"], run.model),
        "labels": (payload["labels"], run.labels),
        "parent": (payload["parent"], parent),
        "lineage": (above if payload.get("child") else "", run.lineage),
        "policy": (payload["policy"], policy),
        "policy's hash": (policy, named),
    }
    for name, (recorded, row) in pairs.items():
        if recorded != row:
            return item.build_difference(f"the run's {name}", row, recorded)
    return None


def _compare_row(run: Run, replayed: RunState) -> Difference | None:
    """Every column the writer sets, as it stands in the row itself."""
    for (name, _), now in zip(COLUMNS, list_column_values(replayed), strict=True):
        was = getattr(run, name)
        if was != now:
            what = f"the run's {name}"
            return _build_difference(run.head_seq, what, str(was), str(now))
    return None
