"""Stored verdicts on quality gates, under a draft."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gateway.backtest.check_verdicts import NOT_CHECKED, judge_stored_check
from gateway.backtest.facts import shorten
from guidance.core.checks import GateDefinition, read_gate
from ledger.backtest.judges import (
    BothJudgements,
    DecisionKind,
    Judgement,
    Notes,
    Payload,
    StoredDecision,
    Subject,
    Unknown,
)
from ledger.state import RunState

CHECK = DecisionKind(
    name="check",
    decisions=("exhausted", "retry", "warned", "logged", "passed", NOT_CHECKED),
    asking=frozenset({"exhausted"}),
)


def note_check(payload: Payload, notes: Notes) -> None:
    notes[payload["check"]] = {
        "policy": payload["policy"],
        "gates": [read_gate(document) for document in payload["gates"]],
    }


def get_check_stamp(payload: Payload, notes: Notes) -> Mapping[str, Any]:
    """A verdict stands under the policy that its check was opened under."""
    stamp: Mapping[str, Any] = notes[payload["check"]]["policy"]
    return stamp


def judge_check_again(item: StoredDecision) -> BothJudgements | Unknown:
    gates: list[GateDefinition] = item.notes[item.payload["check"]]["gates"]
    outcome = judge_stored_check(
        item.payload,
        gates,
        own=item.policies.own.gates,
        draft=item.policies.draft.gates,
    )
    if isinstance(outcome, Unknown):
        return outcome
    last = item.payload["state"]["history"][-1]
    word = item.payload["outcome"]
    failed = [gates[n - 1].slug for n in last["failed_gates"]]
    names = failed or [gate.slug for gate in gates]
    said = last["said"]
    before = _build_judgement(word, names, said)
    if outcome is None:
        gone = "The policy has no such gate: nothing is checked"
        return BothJudgements(before, _build_judgement(NOT_CHECKED, names, gone))
    return BothJudgements(before, _build_judgement(outcome.word, names, said))


def describe_check(payload: Payload, _state: RunState) -> Subject:
    return Subject(payload["step"], shorten(payload["verdict"]["rationale"]))


def _build_judgement(word: str, gates: list[str], message: str) -> Judgement:
    findings = [{"gate": n, "decision": word, "message": message} for n in gates]
    return {"decision": word, "findings": findings}
