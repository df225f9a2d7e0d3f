"""Steps, calls and turns, judged again from their entries."""

from __future__ import annotations

from typing import Any

from gateway.transitions import (
    apply_counted_step,
    apply_step,
    count_repeated_turns,
    get_step_type,
    report_from_json,
)
from guidance.core.policy.caps import CapReached
from guidance.core.review_limit import block_at_cap, stop_at_cap
from guidance.core.steps.judge_step import ENGINE_VERSION, judge_step
from guidance.core.tools.calls import build_call
from guidance.core.tools.judge_call import (
    GATEWAY_VERSION,
    CallVerdict,
    check_call_budget,
    judge_call,
)
from guidance.core.turns.facts import TurnFacts
from guidance.core.turns.judge_turn import judge_turn
from guidance.core.vocabulary import choose_most_severe_call
from guidance.redactor import get_fingerprint_key
from ledger.verification.replay import (
    Difference,
    Outcome,
    ReplayedEntry,
    Skipped,
    register_replay,
)


def register_replays() -> None:
    for name in ("step.judged", "step.observed"):
        register_replay(name, replay_step)
    register_replay("call.judged", replay_call)
    register_replay("turn.judged", replay_turn)


def replay_step(item: ReplayedEntry) -> Outcome:
    state, payload = item.state, item.payload
    if payload["engine"] < ENGINE_VERSION:
        at, policy = item.entry.at, item.policy
        return apply_counted_step(state, payload, at, policy=policy), Skipped()
    if payload["engine"] != ENGINE_VERSION:
        return state, item.build_difference(
            "engine version", payload["engine"], ENGINE_VERSION
        )
    if item.entry.type != get_step_type(state):
        return state, item.build_difference(
            "type", item.entry.type, get_step_type(state)
        )
    verdict = judge_step(
        policy=item.policy,
        report=report_from_json(payload["report"]),
        memory=state.memory,
        used=state.used,
        budget=state.budget,
        turns_repeat=count_repeated_turns(state, item.policy),
    )
    verdict = stop_at_cap(verdict, _get_cap(payload))
    difference = item.compare(payload["verdict"], verdict.to_json())
    if difference is not None:
        return state, difference
    return apply_step(state, verdict, item.entry.at), None


def replay_turn(item: ReplayedEntry) -> Outcome:
    facts = TurnFacts(**item.payload["facts"])
    again = judge_turn(item.policy.turns.get_for_model(item.run.model), facts).to_json()
    return item.applied, item.compare(item.payload["verdict"], again)


def replay_call(item: ReplayedEntry) -> Outcome:
    if item.payload["engine"] < GATEWAY_VERSION:
        return item.applied, Skipped()
    return item.applied, _compare_call(item)


def _compare_call(item: ReplayedEntry) -> Difference | None:
    """A call that was kept whole is judged again, by the rules it was judged by."""
    state, payload = item.state, item.payload
    if payload["engine"] != GATEWAY_VERSION:
        return item.build_difference(
            "engine version", payload["engine"], GATEWAY_VERSION
        )
    call = build_call(
        **{name: payload[name] for name in ("kind", "tool", "shown")},
        confirm=payload.get("confirm", False),
    )
    if call is None or payload["redacted"]:
        return None
    verdict = judge_call(
        rules=item.policy.tools, call=call, fingerprint_key=get_fingerprint_key()
    ).add_finding(
        check_call_budget(
            budget=state.budget, used=state.used, reserved=state.reserved_calls
        )
    )
    verdict = block_at_cap(verdict, _get_cap(payload))
    before = {"decision": payload["decision"], "findings": payload["findings"]}
    if payload["permission"] is not None:
        # Let through by a person's word, which no gate knows.
        before = {
            "decision": "require-confirmation",
            "findings": payload["findings"][:-1],
        }
    return item.compare(before, _add_repairs(verdict, before["findings"]))


def _get_cap(payload: dict[str, Any]) -> CapReached | None:
    """What others had open when it was decided: a fact that only the entry knows."""
    reached = payload.get("review_limit")
    return None if reached is None else CapReached(**reached)


def _add_repairs(verdict: CallVerdict, stored: list[Any]) -> dict[str, Any]:
    """Arguments are kept as they were read, so what was repaired is not seen again."""
    repaired = [f for f in stored if "args_repaired" in f["details"]]
    again = verdict.to_json()
    decisions = [again["decision"], *(finding["decision"] for finding in repaired)]
    return {
        "decision": choose_most_severe_call(decisions),
        "findings": [*repaired, *again["findings"]],
    }
