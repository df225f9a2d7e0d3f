"""Stored tool calls, under a draft."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from gateway.backtest.facts import build_draft_budget, find_draft_cap, shorten
from gateway.stored_decisions import (
    add_budget_findings,
    add_plan_finding,
    build_look_rules,
    get_stored_cap,
    is_kept_whole,
    judge_stored_call,
    remove_permission,
)
from guidance.core.look_first import read_look_facts
from guidance.core.policy import Policy
from guidance.core.policy.caps import CapReached
from guidance.core.review_limit import block_at_cap
from guidance.core.runs.usage import Budget
from guidance.core.tools.findings import CallFinding
from guidance.core.tools.judge_call import GATEWAY_VERSION, CallVerdict
from guidance.core.tools.permission_shapes import is_permittable
from guidance.core.vocabulary import CALL_DECISIONS
from ledger.backtest.judges import (
    BothJudgements,
    DecisionKind,
    Judgement,
    Payload,
    StoredDecision,
    Subject,
    Unknown,
)
from ledger.state import RunState

CALL = DecisionKind(
    name="call",
    decisions=CALL_DECISIONS,
    asking=frozenset({"require-confirmation"}),
)
NOT_WHOLE = "not all of the call was kept"
NOT_COVERED = "whether the permission covers another rule is not stored with it"


def judge_call_again(item: StoredDecision) -> BothJudgements | Unknown:
    if not is_kept_whole(item.payload):
        return Unknown(NOT_WHOLE)
    return _judge_both(
        item, partial(judge_stored_call, item.payload, item.state, at=item.at)
    )


def judge_live_call(
    item: StoredDecision, verdict: CallVerdict
) -> BothJudgements | Unknown:
    """A call that is just decided on: `verdict` is what the draft's gates that need no run
    said about the whole of it."""

    def judge(
        *, policy: Policy, budget: Budget, reached: CapReached | None
    ) -> dict[str, Any]:
        with_budget = add_budget_findings(
            verdict, item.payload, item.state, budget=budget
        )
        planned = add_plan_finding(with_budget, item.state, policy=policy, at=item.at)
        rules = build_look_rules(policy, item.state)
        seen = rules.apply_look(planned, read_look_facts(item.payload))
        return block_at_cap(seen, reached).to_json()

    return _judge_both(item, judge)


def _judge_both(
    item: StoredDecision, judge: Callable[..., dict[str, Any]]
) -> BothJudgements | Unknown:
    payload, pair = item.payload, item.policies
    current = payload["engine"] == GATEWAY_VERSION
    if current and pair.same_for_calls:
        return BothJudgements(payload, payload)
    reached = find_draft_cap(payload, pair)
    if isinstance(reached, Unknown):
        return reached
    after = _apply_permission(
        payload,
        judge(policy=pair.draft, budget=build_draft_budget(item), reached=reached),
        pair.draft,
    )
    before: Judgement | Unknown = payload
    if not current:
        own = judge(
            policy=pair.own,
            budget=item.state.budget,
            reached=get_stored_cap(payload),
        )
        before = _apply_permission(payload, own, pair.own)
    if isinstance(after, Unknown):
        return after
    return before if isinstance(before, Unknown) else BothJudgements(before, after)


def describe_call(payload: Payload, state: RunState) -> Subject:
    shown = payload["shown"]
    text = shown.get("command") or shown.get("file_path") or payload["tool"]
    return Subject(state.memory.last_step, shorten(text))


def _apply_permission(
    payload: Payload, verdict: dict[str, Any], policy: Policy
) -> Judgement | Unknown:
    """A standing permission that let the call through lets it through again, if the
    policy still leaves the answer to it."""
    if payload["permission"] is None or verdict["decision"] != "require-confirmation":
        return verdict
    findings = [CallFinding.from_json(each) for each in verdict["findings"]]
    if not is_permittable(findings, always_ask=policy.tools.always_ask):
        return verdict
    if not _list_rules(verdict) <= _list_rules(remove_permission(payload)):
        return Unknown(NOT_COVERED)
    permitted = payload["findings"][-1]
    return {"decision": "allow", "findings": [*verdict["findings"], permitted]}


def _list_rules(verdict: Judgement) -> set[str]:
    return {
        str(each["details"].get("rule"))
        for each in verdict["findings"]
        if each["decision"] == "require-confirmation"
    }
