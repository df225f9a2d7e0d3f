"""Judge a run again from its stored chain: the same facts must give the same answer."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from guidance.core.canonical import canonical
from guidance.core.evaluate import ENGINE_VERSION, judge_step
from guidance.core.facts import Memory, Usage
from guidance.core.policy import Policy
from guidance.selectors import policy_by_id
from ledger.fold import after, after_step, report_from_json, started
from ledger.models import Entry, Run
from ledger.state import COLUMNS, RunState, columns_of, state_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """The first place where the replay and the record part."""

    seq: int
    what: str
    stored: Any
    replayed: Any

    def __str__(self) -> str:
        return (
            f"entry {self.seq}: {self.what} is stored as {canonical(self.stored)}, "
            f"replayed as {canonical(self.replayed)}"
        )


def replay_run(run: Run, *, policy: Policy | None = None) -> Difference | None:
    """Re-judge every step, under the run's own policy unless another is given.

    Under its own policy the whole run must come out again, its row included; under
    another one only the decisions are compared, up to the first that differs.
    """
    judged_by = policy or policy_by_id(run.policy_id).policy
    stored = state_of(run)
    state = replace(
        stored,
        used=Usage(),
        memory=Memory(),
        last_decision="",
        open_reviews=(),
        head_seq=0,
    )
    for entry in run.entries.order_by("seq").iterator(chunk_size=1000):
        payload = json.loads(entry.payload)
        at = entry.at
        if entry.type == "run.started":
            state = started(state, payload)
        elif entry.type == "step.judged":
            state, difference = _step(state, entry, payload, judged_by, at)
            if difference is not None:
                return difference
        else:
            state = after(state, entry.type, payload, at)
        state = replace(state, head_seq=entry.seq, head_hash=entry.hash, updated_at=at)
    return None if policy else _row_difference(stored, state)


def _step(
    state: RunState,
    entry: Entry,
    payload: dict[str, Any],
    policy: Policy,
    at: datetime,
) -> tuple[RunState, Difference | None]:
    if payload["engine"] != ENGINE_VERSION:
        return state, Difference(
            seq=entry.seq,
            what="engine version",
            stored=payload["engine"],
            replayed=ENGINE_VERSION,
        )
    verdict = judge_step(
        policy=policy,
        report=report_from_json(payload["report"]),
        memory=state.memory,
        used=state.used,
        budget=state.budget,
    )
    again, before = verdict.to_json(), payload["verdict"]
    # Through canonical JSON: tuples and lists, 1 and 1.0 compare as they are stored.
    for name in before:
        if canonical(again.get(name)) != canonical(before[name]):
            return state, Difference(
                seq=entry.seq,
                what=name,
                stored=before[name],
                replayed=again.get(name),
            )
    return after_step(state, verdict, at), None


def _row_difference(stored: RunState, replayed: RunState) -> Difference | None:
    pairs = zip(COLUMNS, columns_of(stored), columns_of(replayed), strict=True)
    for (name, _), was, now in pairs:
        if was != now:
            return Difference(
                seq=stored.head_seq,
                what=f"the run's {name}",
                stored=str(was),
                replayed=str(now),
            )
    return None
