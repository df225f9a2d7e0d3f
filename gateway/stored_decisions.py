"""Stored steps, calls and turns, judged again on the facts in their entries.

Replays judge by the policy of the run, backtests by any other: both rebuild the facts here.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from gateway.transitions import count_repeated_turns, report_from_json
from guidance.core.look_first import LookRules, read_look_facts
from guidance.core.plans.matching import AskedRules, apply_plan
from guidance.core.policy import Policy
from guidance.core.policy.caps import CapReached
from guidance.core.review_limit import block_at_cap, stop_at_cap
from guidance.core.runs.shared_limits import SharedUse
from guidance.core.runs.usage import Budget
from guidance.core.shell_commands.own_server import OwnServer
from guidance.core.steps.judge_step import StepVerdict, judge_step
from guidance.core.tools.calls import build_call
from guidance.core.tools.judge_call import (
    CallVerdict,
    check_call_budget,
    check_call_limits,
    judge_call,
)
from guidance.core.turns.facts import TurnFacts
from guidance.core.turns.judge_turn import TurnVerdict, judge_turn
from guidance.core.vocabulary import choose_most_severe_call
from guidance.redactor import get_fingerprint_key
from ledger.state import RunState

Payload = Mapping[str, Any]


def get_stored_cap(payload: Payload) -> CapReached | None:
    """What others had open when it was decided: a fact that only the entry knows."""
    reached = payload.get("review_limit")
    return None if reached is None else CapReached(**reached)


def judge_stored_step(
    payload: Payload,
    state: RunState,
    *,
    policy: Policy,
    budget: Budget,
    reached: CapReached | None,
    at: datetime,
) -> StepVerdict:
    """`state` is the run's before the step, `at` the time of its entry."""
    verdict = judge_step(
        policy=policy,
        report=report_from_json(payload["report"]),
        memory=state.memory,
        used=state.used,
        budget=budget,
        turns_repeat=count_repeated_turns(state, policy),
        running_ms=payload.get("running_ms"),
        waited_ms=payload.get("waited_ms"),
        shared=SharedUse.from_facts(payload),
        at=at,
    )
    return stop_at_cap(verdict, reached)


def is_kept_whole(payload: Payload) -> bool:
    """Whether a call can be judged again: not one with a secret, which is not kept, nor
    edits of a text that is not kept."""
    return not payload["redacted"] and payload["kind"] != "multi_edit"


def judge_stored_call(
    payload: Payload,
    state: RunState,
    *,
    policy: Policy,
    budget: Budget,
    reached: CapReached | None,
    at: datetime,
) -> dict[str, Any]:
    """Decision and findings of a call that was kept whole; `at` is the time of its entry."""
    call = build_call(
        **{name: payload[name] for name in ("kind", "tool", "shown")},
        confirm=payload.get("confirm", False),
    )
    if call is None:
        raise ValueError(f"a call of kind {payload['kind']} is not kept whole")
    verdict = judge_call(
        rules=policy.tools,
        call=call,
        fingerprint_key=get_fingerprint_key(),
        server=OwnServer.from_facts(payload),
    )
    verdict = add_budget_findings(verdict, payload, state, budget=budget)
    verdict = add_plan_finding(verdict, state, policy=policy, at=at)
    rules = build_look_rules(policy, state)
    verdict = rules.apply_look(verdict, read_look_facts(payload))
    return _add_repairs(block_at_cap(verdict, reached), payload["findings"])


def add_budget_findings(
    verdict: CallVerdict, facts: Payload, state: RunState, *, budget: Budget
) -> CallVerdict:
    """With what the run's own budget says, and what limits that it shares with others do.
    `facts` are those that stand in the entry of the call."""
    shared = SharedUse.from_facts(facts)
    own = check_call_budget(
        budget=budget,
        used=state.used,
        reserved=state.reserved_calls,
        running_ms=facts.get("running_ms"),
        shared=shared,
    )
    return verdict.add_finding(check_call_limits(shared)).add_finding(own)


def add_plan_finding(
    verdict: CallVerdict, state: RunState, *, policy: Policy, at: datetime
) -> CallVerdict:
    """With what the run's approved plan says, if one stands."""
    if state.memory.plan is None:
        return verdict
    return apply_plan(
        verdict,
        state.memory.plan,
        rules=AskedRules(
            always_ask=policy.tools.always_ask, severity=policy.reviews.severity
        ),
        cost_micros=state.used.cost_micros,
        at=at,
    )


def build_look_rules(policy: Policy, state: RunState) -> LookRules:
    """What is left to a model in this run, as it stands."""
    return LookRules(policy=policy, labels=state.labels, looked=state.memory.looked)


def remove_permission(payload: Payload) -> dict[str, Any]:
    """What the gates had decided: a person's standing permission is known to none."""
    if payload["permission"] is None:
        return {"decision": payload["decision"], "findings": payload["findings"]}
    return {
        "decision": "require-confirmation",
        "findings": payload["findings"][:-1],
    }


def get_turn_version(payload: Payload) -> int:
    """Of the judge of this turn; the first one did not store it."""
    version: int = payload.get("engine", 1)
    return version


def judge_stored_turn(payload: Payload, *, model: str, policy: Policy) -> TurnVerdict:
    return judge_turn(policy.turns.get_for_model(model), TurnFacts(**payload["facts"]))


def _add_repairs(verdict: CallVerdict, stored: list[Any]) -> dict[str, Any]:
    """Arguments are kept as they were read, so what was repaired is not seen again."""
    repaired = [f for f in stored if "args_repaired" in f["details"]]
    again = verdict.to_json()
    decisions = [again["decision"], *(finding["decision"] for finding in repaired)]
    return {
        "decision": choose_most_severe_call(decisions),
        "findings": [*repaired, *again["findings"]],
    }
