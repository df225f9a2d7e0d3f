"""Walk through stored runs and judge what was decided in them again.

`judge_history` keeps one page of entries and the state of one run in memory, however much
is stored.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from guidance.core.policy import Policy
from guidance.models import PolicyVersion
from guidance.selectors import get_policy
from ledger.backtest.history import (
    StoredEntry,
    list_entry_pages,
    list_run_batches,
    select_runs,
)
from ledger.backtest.judges import (
    BothJudgements,
    JudgedAgain,
    Notes,
    PolicyPair,
    RegisteredJudge,
    StoredDecision,
    Unknown,
    find_judge,
    find_note,
)
from ledger.entry_types import get_entry_type, keep_run
from ledger.models import Run
from ledger.state import build_unstarted_state
from ledger.verification.unreadable import refuse_other

UNREADABLE = "an entry cannot be read"
NO_POLICY = "the policy it was made under cannot be read"


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedPage:
    """What came of one page of entries, of which `entries` were read."""

    entries: int
    judged: list[JudgedAgain]


def judge_history(
    runs: QuerySet[Run],
    *,
    draft: Policy,
    since: datetime | None = None,
    until: datetime | None = None,
) -> Iterator[JudgedPage]:
    """Every decision of these runs in this time, the newest runs first."""
    policies = _Policies(draft)
    for batch in list_run_batches(select_runs(runs, since=since, until=until)):
        walks = {run.pk: _RunWalk(run, policies, since) for run in batch}
        for page in list_entry_pages(batch, until=until):
            judged: list[JudgedAgain] = []
            for run in batch:
                for entry in page.get(run.pk, ()):
                    walks[run.pk].take(entry, judged)
            yield JudgedPage(entries=sum(map(len, page.values())), judged=judged)


class _Policies:
    """The draft beside each policy that stands on a stored decision, read once."""

    def __init__(self, draft: Policy) -> None:
        self.draft = draft
        self._pairs: dict[tuple[int, str, int, str], PolicyPair | None] = {}

    def find_pair(self, project_id: int, stamp: Mapping[str, Any]) -> PolicyPair | None:
        key = project_id, stamp["name"], stamp["version"], stamp["hash"]
        if key not in self._pairs:
            self._pairs[key] = self._load(*key)
        return self._pairs[key]

    def _load(
        self, project_id: int, name: str, version: int, stored_hash: str
    ) -> PolicyPair | None:
        row = PolicyVersion.objects.filter(
            project_id=project_id, name=name, version=version, hash=stored_hash
        ).first()
        if row is None:
            return None
        return PolicyPair(own=get_policy(row.pk).policy, draft=self.draft)


class _RunWalk:
    """One run, from its first entry on: its state is that before the next entry."""

    def __init__(self, run: Run, policies: _Policies, since: datetime | None) -> None:
        self._run = run
        self._policies = policies
        self._since = since
        self._state = build_unstarted_state(run)
        self._notes: Notes = {}
        # After an entry that could not be read nothing is known of the run's state.
        self._lost = False

    def take(self, entry: StoredEntry, judged: list[JudgedAgain]) -> None:
        """Judge the entry if it is a decision, and move the run's state."""
        found = find_judge(entry.type)
        note = find_note(entry.type)
        if found is None and note is None and _is_without_effect(entry.type):
            return
        try:
            payload = json.loads(entry.payload or "")
        except ValueError:
            payload = None
        if found is not None and (self._since is None or entry.at >= self._since):
            judged.append(self._judge(found, entry, payload))
        if self._lost:
            return
        try:
            if note is not None:
                note(payload, self._notes)
            apply = found.apply if found else None
            apply = apply or get_entry_type(entry.type).apply
            self._state = apply(self._state, payload, entry.at)
        except Exception as error:
            refuse_other(error)
            self._lost = True

    def _judge(
        self, found: RegisteredJudge, entry: StoredEntry, payload: Any
    ) -> JudgedAgain:
        outcome: BothJudgements | Unknown
        review = subject = None
        try:
            outcome = self._ask_judge(found, payload, entry.at)
            review = payload["review"]["id"] if payload.get("review") else None
            if (
                isinstance(outcome, BothJudgements)
                and outcome.before["decision"] != outcome.after["decision"]
            ):
                subject = found.describe(payload, self._state)
        except Exception as error:
            refuse_other(error)
            outcome = Unknown(UNREADABLE)
        return JudgedAgain(
            kind=found.kind,
            run_id=entry.run_id,
            seq=entry.seq,
            at=entry.at,
            review=review,
            outcome=outcome,
            subject=subject,
        )

    def _ask_judge(
        self, found: RegisteredJudge, payload: Any, at: datetime
    ) -> BothJudgements | Unknown:
        if self._lost or payload is None:
            return Unknown(UNREADABLE)
        stamp = found.get_stamp(payload, self._notes)
        pair = self._policies.find_pair(self._run.project_id, stamp)
        if pair is None:
            return Unknown(NO_POLICY)
        return found.judge(
            StoredDecision(
                payload=payload,
                at=at,
                state=self._state,
                model=self._run.model,
                notes=self._notes,
                policies=pair,
            )
        )


def _is_without_effect(entry_type: str) -> bool:
    return get_entry_type(entry_type).apply is keep_run
