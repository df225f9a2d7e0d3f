"""Stored turns, under a draft."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gateway.backtest.facts import shorten
from gateway.stored_decisions import judge_stored_turn
from ledger.backtest.judges import (
    BothJudgements,
    DecisionKind,
    Judgement,
    Payload,
    StoredDecision,
    Subject,
)
from ledger.state import RunState

TURN = DecisionKind(
    name="turn",
    decisions=("needs_human", "warn", "auto_continue", "finish", "in_progress"),
    asking=frozenset({"needs_human"}),
)


def judge_turn_again(item: StoredDecision) -> BothJudgements:
    stored = item.payload["verdict"]
    again = stored
    if not item.policies.same_for_turns:
        draft = item.policies.draft
        again = judge_stored_turn(
            item.payload, model=item.model, policy=draft
        ).to_json()
    return BothJudgements(_read_turn(stored), _read_turn(again))


def describe_turn(payload: Payload, state: RunState) -> Subject:
    return Subject(state.memory.last_step, shorten(payload["facts"]["content"]))


def _read_turn(verdict: Mapping[str, Any]) -> Judgement:
    finding = {
        "gate": "turn",
        "decision": verdict["action"],
        "message": verdict["reason"],
    }
    return {"decision": verdict["action"], "findings": [finding]}
