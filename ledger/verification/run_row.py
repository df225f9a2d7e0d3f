"""The run's own row as it must be: the policies of its judgements, and its beginning."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from guidance.core.canonical import hash_text
from guidance.core.policy import Policy, load_policy
from guidance.models import PolicyVersion
from ledger.chain import format_timestamp
from ledger.models import Entry, Run
from ledger.state import COLUMNS, RunState, list_column_values

# The entry that moves a run to another version of its policy.
MOVED = "run.policy_changed"


class RowDifference(NamedTuple):
    """A column of a run's row that is not what the chain says."""

    name: str
    stored: Any
    said: Any


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
        """Find it by the stamp of a decision, if the run had that version by then."""
        stamp = payload.get("policy")
        if len(self._policies) > 1 and isinstance(stamp, dict):
            return self._policies[stamp["name"], stamp["version"]]
        return self._policies[self._build_key(self._last)]

    def compare(self, run: Run) -> RowDifference | None:
        """The version that the row has beside the last one of the chain."""
        if self._last.pk == run.policy_id:
            return None
        return RowDifference("policy", str(run.policy), str(self._last))

    def _get_version(self, stamp: Mapping[str, Any]) -> PolicyVersion:
        name, number = stamp["name"], stamp["version"]
        version = PolicyVersion.objects.filter(
            project_id=self._run.project_id, name=name, version=number
        ).first()
        if version is None:
            raise ValueError(f"the policy {name}@{number} is gone")
        if hash_text(version.document) != stamp["hash"]:
            raise ValueError(f"the policy {version} is not the one that is named")
        return version

    @staticmethod
    def _build_key(version: PolicyVersion) -> tuple[str, int]:
        return version.name, version.version

    @staticmethod
    def _load(version: PolicyVersion) -> Policy:
        return _load_document(version.document)


@lru_cache(maxsize=64)
def _load_document(document: str) -> Policy:
    """Load a policy by its text: a row that was changed is another one."""
    return load_policy(json.loads(document))


def compare_start(
    run: Run, entry: Entry, payload: Mapping[str, Any], begun_under: PolicyVersion
) -> RowDifference | None:
    """Compare what a run begins with, which never changes: neither its row nor its policy."""
    parent = str(run.parent.code) if run.parent else None
    above = f"{run.parent.lineage}{run.parent.pk}/" if run.parent else ""
    policy = {
        "name": begun_under.name,
        "version": begun_under.version,
        "hash": hash_text(begun_under.document),
    }
    # The same, as it is handed on to the decisions.
    named = {**policy, "hash": begun_under.hash}
    pairs = {
        "created_at": (format_timestamp(entry.at), format_timestamp(run.created_at)),
        "agent": (entry.actor, f"agent:{run.agent.code}"),
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
            return RowDifference(name, row, recorded)
    return None


def compare_columns(run: Run, said: RunState) -> RowDifference | None:
    """Every column the writer sets, as it stands in the row itself."""
    for (name, _), now in zip(COLUMNS, list_column_values(said), strict=True):
        was = getattr(run, name)
        if was != now:
            return RowDifference(name, str(was), str(now))
    return None
