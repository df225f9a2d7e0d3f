"""Steps, calls and turns, judged again from their entries."""

from __future__ import annotations

from gateway.stored_decisions import (
    get_stored_cap,
    get_turn_version,
    is_kept_whole,
    judge_stored_call,
    judge_stored_step,
    judge_stored_turn,
    remove_permission,
)
from gateway.stored_outcomes import build_outcome_report
from gateway.transitions import apply_step, count_step, get_step_type
from guidance.core.outcomes import (
    OUTCOME_VERSION,
    OutcomeFacts,
    Seen,
    judge_outcome,
)
from guidance.core.steps.judge_step import ENGINE_VERSION
from guidance.core.tools.judge_call import GATEWAY_VERSION
from guidance.core.turns.judge_turn import TURN_VERSION
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
    register_replay("run.finished", replay_ending)


def replay_step(item: ReplayedEntry) -> Outcome:
    state, payload = item.state, item.payload
    if payload["engine"] < ENGINE_VERSION:
        return count_step(state, payload, item.entry.at, item.policy), Skipped()
    if payload["engine"] != ENGINE_VERSION:
        return state, item.build_difference(
            "engine version", payload["engine"], ENGINE_VERSION
        )
    if item.entry.type != get_step_type(state):
        return state, item.build_difference(
            "type", item.entry.type, get_step_type(state)
        )
    moved = _compare_clock(item)
    if moved is not None:
        return state, moved
    verdict = judge_stored_step(
        payload,
        state,
        policy=item.policy,
        budget=state.budget,
        reached=get_stored_cap(payload),
        at=item.entry.at,
    )
    difference = item.compare(payload["verdict"], verdict.to_json())
    if difference is not None:
        return state, difference
    return apply_step(state, verdict, item.entry.at), None


def replay_turn(item: ReplayedEntry) -> Outcome:
    version = get_turn_version(item.payload)
    if version < TURN_VERSION:
        return item.applied, Skipped()
    if version != TURN_VERSION:
        return item.applied, item.build_difference(
            "engine version", version, TURN_VERSION
        )
    again = judge_stored_turn(item.payload, model=item.run.model, policy=item.policy)
    return item.applied, item.compare(item.payload["verdict"], again.to_json())


def replay_ending(item: ReplayedEntry) -> Outcome:
    """Before runs were judged by what was seen, their entries did not keep it."""
    payload = item.payload
    version = payload.get("engine", 0)
    if version < OUTCOME_VERSION:
        return item.applied, Skipped()
    if version != OUTCOME_VERSION:
        return item.applied, item.build_difference(
            "engine version", version, OUTCOME_VERSION
        )
    facts = OutcomeFacts(
        seen=Seen.from_json(payload["seen"]), report=build_outcome_report(payload)
    )
    again = judge_outcome(item.policy.evaluators, facts)
    if item.tried is not None:
        # Another policy may well judge otherwise: only its decisions are compared.
        return item.applied, None
    stored = {name: payload[name] for name in ("evaluations", "accepted")}
    judged = {
        "evaluations": [each.to_json() for each in again.evaluations],
        "accepted": again.accepted,
    }
    return item.applied, item.compare(stored, judged)


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
    moved = _compare_clock(item)
    if moved is not None or not is_kept_whole(payload):
        return moved
    again = judge_stored_call(
        payload,
        state,
        policy=item.policy,
        budget=state.budget,
        reached=get_stored_cap(payload),
        at=item.entry.at,
    )
    return item.compare(remove_permission(payload), again)


def _compare_clock(item: ReplayedEntry) -> Difference | None:
    """What was judged by the server's clock follows from the times of the entries."""
    payload, state, at = item.payload, item.state, item.entry.at
    running_ms = state.measure_running_ms(at)
    if payload.get("running_ms") != running_ms:
        stored = payload.get("running_ms")
        return item.build_difference("running_ms", stored, running_ms)
    waited_ms = state.measure_waited_ms(at)
    if payload.get("waited_ms", waited_ms) != waited_ms:
        return item.build_difference("waited_ms", payload["waited_ms"], waited_ms)
    return None
