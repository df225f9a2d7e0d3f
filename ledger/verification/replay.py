"""Judge a run again from its stored chain: the same facts must give the same answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from guidance.core.canonical import canonical, digest
from guidance.core.policy import Policy, load_policy
from guidance.core.policy.caps import CapReached
from guidance.core.review_limit import block_at_cap, stop_at_cap
from guidance.core.steps.judge_step import ENGINE_VERSION, judge_step
from guidance.core.tools.calls import call_from
from guidance.core.tools.judge_call import (
    GATEWAY_VERSION,
    CallVerdict,
    call_budget,
    judge_call,
)
from guidance.core.turns.facts import TurnFacts
from guidance.core.turns.judge_turn import judge_turn
from guidance.core.vocabulary import most_severe_call
from guidance.redactor import fingerprint_key
from ledger.chain import timestamp
from ledger.models import Entry, Run
from ledger.replay_loop import loop_differences
from ledger.state import COLUMNS, RunState, build_unstarted_state, list_column_values
from ledger.transitions import (
    STEPS,
    after,
    after_step,
    report_from_json,
    started,
    step_type,
    turns_repeat,
)
from ledger.verification.unreadable import describe, read_entries, refuse_other

# The part of a verdict that has to come out again.
Compared = Callable[[Mapping[str, Any]], Mapping[str, Any]]


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
    another one only the decisions are compared, with the gates that made them, up to the
    first that differs.
    """
    state = build_unstarted_state(run)
    # Up to the head this row knows: the run may have moved on since it was read.
    entries = run.entries.filter(seq__lte=run.head_seq).order_by("seq")
    stored: Any = None
    try:
        judged_by = policy or load_policy(json.loads(run.policy.document))
        for entry in read_entries(entries):
            stored = entry.payload
            state, difference = _entry(state, entry, run, judged_by, tried=policy)
            if difference is not None:
                return difference
            stored = None
            state = replace(
                state, head_seq=entry.seq, head_hash=entry.hash, updated_at=entry.at
            )
    except Exception as error:
        refuse_other(error)
        return _difference(state.head_seq + 1, "the entry", stored, describe(error))
    return None if policy else _row_difference(run, state)


def _difference(seq: int, what: str, stored: Any, replayed: Any) -> Difference:
    return Difference(seq=seq, what=what, stored=stored, replayed=replayed)


def _entry(
    state: RunState,
    entry: Entry,
    run: Run,
    policy: Policy,
    *,
    tried: Policy | None,
) -> tuple[RunState, Difference | None]:
    payload = json.loads(entry.payload)
    if entry.type == "run.started":
        return started(state, payload), _start_difference(run, entry, payload)
    compared = _whole if tried is None else _decisions
    if entry.type in STEPS:
        return _step(state, entry, payload, policy, compared)
    difference = None
    if entry.type == "call.judged":
        difference = _call_difference(state, entry, payload, policy, compared)
    elif entry.type == "turn.judged":
        difference = _turn_difference(entry, payload, run, policy, compared)
    elif entry.type == "loop.decided":
        found = loop_differences(payload, project_id=run.project_id, policy=tried)
        difference = next((_difference(entry.seq, *each) for each in found), None)
    return after(state, entry.type, payload, entry.at), difference


def _whole(verdict: Mapping[str, Any]) -> Mapping[str, Any]:
    return verdict


def _decisions(verdict: Mapping[str, Any]) -> Mapping[str, Any]:
    """What was decided, and by which gates: figures and words depend on the limits, and
    another policy has others."""
    decided = {n: verdict[n] for n in ("decision", "action", "outcome") if n in verdict}
    if "findings" in verdict:
        gates = [[each["gate"], each["decision"]] for each in verdict["findings"]]
        decided["findings"] = gates
    return decided


def _first_difference(
    seq: int,
    stored: Mapping[str, Any],
    again: Mapping[str, Any],
    compared: Compared,
) -> Difference | None:
    # Through canonical JSON: tuples and lists, 1 and 1.0 compare as they are stored.
    stored, again = compared(stored), compared(again)
    for name, before in stored.items():
        if canonical(again.get(name)) != canonical(before):
            return _difference(seq, name, before, again.get(name))
    return None


def _call_difference(
    state: RunState,
    entry: Entry,
    payload: dict[str, Any],
    policy: Policy,
    compared: Compared,
) -> Difference | None:
    """A call that was kept whole is judged again, by the rules it was judged by.

    Rules grow: a call that older ones have judged is not held against newer ones.
    """
    call = call_from(**{name: payload[name] for name in ("kind", "tool", "shown")})
    if call is None or payload["redacted"] or payload["engine"] != GATEWAY_VERSION:
        return None
    verdict = judge_call(
        rules=policy.tools, call=call, fingerprint_key=fingerprint_key()
    ).with_finding(
        call_budget(budget=state.budget, used=state.used, reserved=state.reserved_calls)
    )
    verdict = block_at_cap(verdict, _reached(payload))
    before = {"decision": payload["decision"], "findings": payload["findings"]}
    if payload["permission"] is not None:
        # Let through by a person's word, which no gate knows.
        before = {
            "decision": "require-confirmation",
            "findings": payload["findings"][:-1],
        }
    again = _with_repairs(verdict, before["findings"])
    return _first_difference(entry.seq, before, again, compared)


def _reached(payload: dict[str, Any]) -> CapReached | None:
    """What others had open when it was decided: a fact that only the entry knows."""
    reached = payload.get("review_limit")
    return None if reached is None else CapReached(**reached)


def _with_repairs(verdict: CallVerdict, stored: list[Any]) -> dict[str, Any]:
    """Arguments are kept as they were read, so what was repaired is not seen again."""
    repaired = [f for f in stored if "args_repaired" in f["details"]]
    again = verdict.to_json()
    decisions = [again["decision"], *(finding["decision"] for finding in repaired)]
    return {
        "decision": most_severe_call(decisions),
        "findings": [*repaired, *again["findings"]],
    }


def _turn_difference(
    entry: Entry,
    payload: dict[str, Any],
    run: Run,
    policy: Policy,
    compared: Compared,
) -> Difference | None:
    facts = TurnFacts(**payload["facts"])
    again = judge_turn(policy.turns.for_model(run.model), facts).to_json()
    return _first_difference(entry.seq, payload["verdict"], again, compared)


def _start_difference(
    run: Run, entry: Entry, payload: dict[str, Any]
) -> Difference | None:
    """What a run begins with never changes: neither its row nor its policy may."""
    parent = str(run.parent.code) if run.parent else None
    policy = {
        "name": run.policy.name,
        "version": run.policy.version,
        "hash": digest(run.policy.document),
    }
    pairs = {
        "created_at": (timestamp(entry.at), timestamp(run.created_at)),
        "agent": (entry.actor, f"agent:{run.agent.code}"),
        "task": (payload["task"], run.task),
        "intent": (payload["intent"], run.intent),
        "model": (payload["model"], run.model),
        "labels": (payload["labels"], run.labels),
        "parent": (payload["parent"], parent),
        "policy": (payload["policy"], policy),
    }
    for name, (told, row) in pairs.items():
        if told != row:
            return _difference(entry.seq, f"the run's {name}", row, told)
    return None


def _step(
    state: RunState,
    entry: Entry,
    payload: dict[str, Any],
    policy: Policy,
    compared: Compared,
) -> tuple[RunState, Difference | None]:
    if payload["engine"] != ENGINE_VERSION:
        return state, _difference(
            entry.seq, "engine version", payload["engine"], ENGINE_VERSION
        )
    if entry.type != step_type(state):
        return state, _difference(entry.seq, "type", entry.type, step_type(state))
    verdict = judge_step(
        policy=policy,
        report=report_from_json(payload["report"]),
        memory=state.memory,
        used=state.used,
        budget=state.budget,
        turns_repeat=turns_repeat(state, policy),
    )
    verdict = stop_at_cap(verdict, _reached(payload))
    difference = _first_difference(
        entry.seq, payload["verdict"], verdict.to_json(), compared
    )
    if difference is not None:
        return state, difference
    return after_step(state, verdict, entry.at), None


def _row_difference(run: Run, replayed: RunState) -> Difference | None:
    """Every column the writer sets, as it stands in the row itself."""
    for (name, _), now in zip(COLUMNS, list_column_values(replayed), strict=True):
        was = getattr(run, name)
        if was != now:
            what = f"the run's {name}"
            return _difference(run.head_seq, what, str(was), str(now))
    return None
