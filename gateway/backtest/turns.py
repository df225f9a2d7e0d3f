"""Stored turns, under a draft."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from gateway.backtest.facts import shorten
from gateway.stored_decisions import get_turn_version, judge_stored_turn
from guidance.core.turns.judge_turn import TURN_VERSION
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
    stored, pair = item.payload["verdict"], item.policies
    if pair.same_for_turns:
        return BothJudgements(_read_turn(stored), _read_turn(stored))
    judge = partial(judge_stored_turn, item.payload, model=item.model)
    if get_turn_version(item.payload) != TURN_VERSION:
        stored = judge(policy=pair.own).to_json()
    after = judge(policy=pair.draft).to_json()
    return BothJudgements(_read_turn(stored), _read_turn(after))


def describe_turn(payload: Payload, state: RunState) -> Subject:
    return Subject(state.memory.last_step, shorten(payload["facts"]["content"]))


def _read_turn(verdict: Mapping[str, Any]) -> Judgement:
    finding = {
        "gate": "turn",
        "decision": verdict["action"],
        "message": verdict["reason"],
    }
    return {"decision": verdict["action"], "findings": [finding]}
