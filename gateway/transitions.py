"""What the entries that agents cause do to a run: steps, calls, turns, checks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from guidance.core.look_first import remember_look
from guidance.core.policy import Policy
from guidance.core.runs.facts import StepReport
from guidance.core.steps.judge_step import (
    FACTS_FIRST_VERSION,
    KEPT_WAITS_VERSION,
    StepVerdict,
    count_kept_steps,
    count_throttle,
)
from guidance.core.turns.facts import TurnFacts
from ledger.entry_types import Payload, register_entry_type
from ledger.state import RunState


def register_entry_types() -> None:
    register_entry_type(
        "step.judged",
        apply=apply_stored_step,
        columns=get_step_columns,
        count=count_step,
    )
    register_entry_type(
        "step.observed",
        apply=apply_stored_step,
        columns=get_observed_columns,
        count=count_step,
    )
    register_entry_type("call.judged", apply=apply_judged_call)
    register_entry_type("call.settled", apply=apply_settled_call)
    register_entry_type("turn.judged", apply=apply_turn)
    register_entry_type("session.idle", apply=apply_idle)
    register_entry_type("session.prompted", apply=apply_prompted)
    register_entry_type("model.asked", apply=apply_asked_model)
    for name in ("call.claimed", "call.expired", "call.replayed"):
        register_entry_type(name)
    register_entry_type("limit.noticed")
    for name in ("check.opened", "check.judged", "agent.observed", "shadow.judged"):
        register_entry_type(name)
    register_entry_type("violation.recorded")


def build_time_facts(run: RunState, at: datetime) -> dict[str, int]:
    """What the server's clock says of a run when something of it is judged."""
    running_ms = run.measure_running_ms(at)
    return {} if running_ms is None else {"running_ms": running_ms}


def get_step_type(run: RunState) -> str:
    """A step that is only observed is an entry of its own type: nothing was decided."""
    return "step.observed" if run.observed else "step.judged"


def apply_step(run: RunState, verdict: StepVerdict, at: datetime) -> RunState:
    """A judged step: totals and memory move; a stop latches at once."""
    decision = "" if run.observed else verdict.decision
    moved = run.copy_with(
        used=verdict.used,
        memory=verdict.memory,
        last_decision=decision,
        throttled_at=at if decision == "throttle" else None,
    ).with_idle(False, at=at)
    if decision == "stop":
        return moved.with_status("stopped", reason=get_headline(verdict, "stop"), at=at)
    return moved


def apply_stored_step(run: RunState, payload: Payload, at: datetime) -> RunState:
    """The same from its entry, with nothing judged again: the status and the number."""
    verdict = payload["verdict"]
    decision = "" if run.observed else verdict["decision"]
    memory = run.memory._replace(last_step=payload["report"]["number"])
    moved = replace(run, memory=memory, last_decision=decision).with_idle(False, at=at)
    if decision == "stop":
        findings = verdict["findings"]
        reason = next(f["message"] for f in findings if f["decision"] == "stop")
        return moved.with_status("stopped", reason=reason, at=at)
    return moved


def apply_counted_step(
    run: RunState, payload: Payload, at: datetime, *, kept: int
) -> RunState:
    """The same with its totals and memory, which follow from the facts alone; so many
    steps are `kept` in it."""
    report = report_from_json(payload["report"])
    decisions = [finding["decision"] for finding in payload["verdict"]["findings"]]
    after = run.memory.add_step(
        report, kept=kept, takes_word=payload["engine"] < FACTS_FIRST_VERSION
    )
    memory = count_throttle(after, before=run.memory, decisions=decisions)
    used = run.used.add_step(report, counted_calls=run.memory.calls.granted)
    moved = run.copy_with(memory=memory, used=used)
    if payload["engine"] >= KEPT_WAITS_VERSION:
        waited_ms = payload.get("waited_ms")
        memory = memory._replace(
            delay_ms=payload["verdict"]["delay_ms"],
            ignored_waits=run.memory.count_ignored_waits(waited_ms),
        )
        throttled = payload["verdict"]["decision"] == "throttle" and not run.observed
        moved = run.copy_with(
            memory=memory, used=used, throttled_at=at if throttled else None
        )
    return apply_stored_step(moved, payload, at)


def count_step(
    run: RunState, payload: Payload, at: datetime, policy: Policy
) -> RunState:
    kept = count_kept_steps(policy.continue_limits)
    return apply_counted_step(run, payload, at, kept=kept)


def get_step_columns(payload: Payload) -> tuple[int | None, str]:
    return payload["report"]["number"], payload["verdict"]["decision"]


def get_observed_columns(payload: Payload) -> tuple[int | None, str]:
    return payload["report"]["number"], ""


def count_repeated_turns(run: RunState, policy: Policy) -> int:
    """The cycle that the agent's turns are in, which the next step is judged by."""
    times = policy.continue_limits.repeat_limit
    return run.turns.count_repetition(times=times) or 0


def apply_turn(run: RunState, payload: Payload, _at: datetime) -> RunState:
    turns = run.turns.remember_turn(
        TurnFacts(**payload["facts"]),
        action=payload["verdict"]["action"],
        tools=payload["tools"],
    )
    return replace(run, turns=turns)


def apply_idle(run: RunState, _payload: Payload, at: datetime) -> RunState:
    return run.with_idle(True, at=at)


def apply_prompted(run: RunState, _payload: Payload, at: datetime) -> RunState:
    return run.with_idle(False, at=at)


def apply_judged_call(run: RunState, payload: Payload, at: datetime) -> RunState:
    granted = payload["grant"] is not None
    calls = run.memory.calls.count_verdict(weight=payload["weight"], granted=granted)
    planned, plan = payload.get("plan"), run.memory.plan
    if planned is not None and plan is not None:
        plan = plan.count_call(planned)
    looked = remember_look(run.memory.looked, payload)
    memory = run.memory.count_call(calls, plan=plan, looked=looked)
    used = run.used.add_call() if granted else run.used
    return run.copy_with(memory=memory, used=used).with_idle(False, at=at)


def apply_settled_call(run: RunState, payload: Payload, _at: datetime) -> RunState:
    used = run.used._replace(
        tokens=run.used.tokens + payload["tokens"],
        time_ms=run.used.time_ms + payload["duration_ms"],
        cost_micros=run.used.cost_micros + payload["cost_micros"],
    )
    calls = run.memory.calls.count_result(ok=payload["ok"])
    return replace(run, used=used, memory=run.memory._replace(calls=calls))


def apply_asked_model(run: RunState, payload: Payload, _at: datetime) -> RunState:
    """What was asked on behalf of a run is part of its cost. A price that nobody knows
    adds nothing; the entry says so."""
    cost = run.used.cost_micros + (payload["cost_micros"] or 0)
    return replace(run, used=run.used._replace(cost_micros=cost))


def get_headline(verdict: StepVerdict, decision: str) -> str:
    """The words of the first finding that led to this decision."""
    return next(f.message for f in verdict.findings if f.decision == decision)


_REPORT_FIELDS = StepReport._fields


def report_to_json(report: StepReport) -> dict[str, Any]:
    # asdict() would copy deeply what cannot change, for every step (bench steps).
    document = {name: getattr(report, name) for name in _REPORT_FIELDS}
    return {**document, "confidences": list(report.confidences)}


def report_from_json(document: Mapping[str, Any]) -> StepReport:
    """Decimals again, where an entry has 1 for 1.0: gates write them as such."""
    decimals = {
        name: None if document.get(name) is None else float(document[name])
        for name in ("coherence", "uncertainty")
    }
    confidences = tuple(map(float, document["confidences"]))
    return StepReport(**{**document, **decimals, "confidences": confidences})
