"""What was just decided, judged by a draft too: noted beside it, never in its way.

The same judges as of a backtest look at the same facts. Where the draft decides otherwise,
or cannot say, an entry and a row follow the decision in its own transaction. Whatever goes
wrong in here ends up in that entry, and not in the answer.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from common.ids import uuid7
from gateway.backtest.calls import CALL, describe_call, judge_live_call
from gateway.backtest.steps import STEP, describe_step, judge_step_again
from guidance.core.canonical import to_canonical_json
from guidance.core.steps.judge_step import is_remembered
from guidance.core.tools.judge_call import CallVerdict
from guidance.selectors import LoadedPolicy
from ledger.backtest.judges import (
    BothJudgements,
    DecisionKind,
    Describe,
    JudgedAgain,
    Payload,
    StoredDecision,
    Subject,
    Unknown,
)
from ledger.backtest.tally import find_cause, name_move
from ledger.plan import NewRow, Plan, Table
from ledger.state import RunState
from reviews.models import PolicyShadowItem
from reviews.policies.backtest.counts import shorten_judgement
from reviews.policies.shadow.running import RunningShadow

ACTOR = "system:policy-shadow"
UNREADABLE = "the draft cannot be read"
FORGOTTEN = "the draft looks back at more steps than the run remembers"
NO_SUBJECT = Subject(0, "")

logger = logging.getLogger(__name__)


class _ShadowRow(NamedTuple):
    """The values of a row, by the names of its columns."""

    code: str
    shadow_id: int
    run_id: int
    seq: int
    at: datetime
    kind: str
    tool: str
    gate: str = ""
    rule: str = ""
    move: str = ""
    asks: str = ""
    reason: str = ""


_ITEMS = Table(PolicyShadowItem, *_ShadowRow._fields)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedDecision:
    """A decision whose entry is planned at `seq`; `state` is the run's before it."""

    plan: Plan
    own: LoadedPolicy
    state: RunState
    payload: Payload
    seq: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ShadowedCall:
    """What the draft's gates that need no run say about a call."""

    shadow: RunningShadow
    verdict: CallVerdict | Unknown


def judge_step_by_draft(shadow: RunningShadow, judged: JudgedDecision) -> bool:
    """Whether the draft decides the same about a step."""

    def judge(item: StoredDecision) -> BothJudgements | Unknown:
        limits = item.policies.draft.continue_limits
        if not is_remembered(item.state.memory, limits=limits):
            return Unknown(FORGOTTEN)
        return judge_step_again(item)

    return _compare(shadow, judged, STEP, judge, describe_step)


def judge_call_by_draft(called: ShadowedCall, judged: JudgedDecision) -> bool:
    """Whether the draft decides the same about a call."""

    def judge(item: StoredDecision) -> BothJudgements | Unknown:
        if isinstance(called.verdict, Unknown):
            return called.verdict
        return judge_live_call(item, called.verdict)

    return _compare(called.shadow, judged, CALL, judge, describe_call)


def report_trouble(shadow: RunningShadow, error: Exception) -> Unknown:
    """It is in the log, and told with the decision."""
    logger.error("The draft of shadow %s failed", shadow.code, exc_info=error)
    return Unknown(f"judging it failed ({type(error).__name__})")


def _compare(
    shadow: RunningShadow,
    judged: JudgedDecision,
    kind: DecisionKind,
    judge: Callable[[StoredDecision], BothJudgements | Unknown],
    describe: Describe,
) -> bool:
    try:
        outcome = _judge(shadow, judged, judge)
        if isinstance(outcome, BothJudgements) and (
            outcome.before["decision"] == outcome.after["decision"]
        ):
            return True
        subject = describe(judged.payload, judged.state)
        payload, row = _build(shadow, judged, kind, outcome, subject)
    except Exception as error:
        unknown = report_trouble(shadow, error)
        payload, row = _build(shadow, judged, kind, unknown, NO_SUBJECT)
    judged.plan.add_entry("shadow.judged", actor=ACTOR, payload=payload)
    judged.plan.rows.append(row)
    return False


def _judge(
    shadow: RunningShadow,
    judged: JudgedDecision,
    judge: Callable[[StoredDecision], BothJudgements | Unknown],
) -> BothJudgements | Unknown:
    pair = shadow.find_pair(judged.own)
    if pair is None:
        return Unknown(UNREADABLE)
    return judge(
        StoredDecision(
            payload=judged.payload,
            at=judged.plan.at,
            state=judged.state,
            model="",
            notes={},
            policies=pair,
        )
    )


def _build(
    shadow: RunningShadow,
    judged: JudgedDecision,
    kind: DecisionKind,
    outcome: BothJudgements | Unknown,
    subject: Subject,
) -> tuple[dict[str, Any], NewRow]:
    """The entry's payload, and the row by which it is counted and found."""
    plan, code = judged.plan, str(uuid7())
    payload: dict[str, Any] = {
        "id": code,
        "shadow": shadow.code,
        "entry": judged.seq,
        "kind": kind.name,
        "step": subject.step,
        "subject": subject.text,
        "tool": judged.payload["tool"] if kind is CALL else None,
        "draft": shadow.draft.build_stamp() if shadow.draft else None,
    }
    row = _ShadowRow(
        code=code,
        shadow_id=shadow.id,
        run_id=plan.run.id,
        seq=plan.next_seq,
        at=plan.at,
        kind=kind.name,
        tool=(payload["tool"] or "")[:200],
    )
    if isinstance(outcome, Unknown):
        decided = judged.payload.get("verdict", judged.payload)["decision"]
        row = row._replace(reason=outcome.reason)
        payload |= {
            "before": {"decision": decided, "findings": []},
            "after": None,
            "reason": outcome.reason,
        }
        return payload, NewRow(_ITEMS, row)
    before, after = outcome
    cause = find_cause(
        JudgedAgain(
            kind=kind,
            run_id=plan.run.id,
            seq=judged.seq,
            at=plan.at,
            review=None,
            outcome=outcome,
        )
    )
    row = row._replace(
        gate=cause.gate[:100],
        rule=cause.rule[:100],
        move=name_move(before["decision"], after["decision"]),
        asks=kind.compare_asking(before["decision"], after["decision"]),
    )
    payload |= {
        "before": shorten_judgement(before),
        "after": shorten_judgement(after),
        "reason": None,
        "gate": row.gate,
        "rule": row.rule,
        "move": row.move,
        "asks": row.asks,
    }
    to_canonical_json(payload)  # what cannot be stored is found here, not at the commit
    return payload, NewRow(_ITEMS, row)
