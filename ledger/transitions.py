"""What an entry does to its run: the one place where a run's state moves.

The writer applies entries as they are made, replay applies them again from the stored
chain; both must arrive at the same row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from datetime import datetime
from typing import Any

from guidance.core.policy import Policy
from guidance.core.runs.facts import StepReport
from guidance.core.runs.memory import Memory
from guidance.core.runs.usage import Budget
from guidance.core.steps.judge_step import StepVerdict
from guidance.core.turns.facts import TurnFacts
from guidance.core.turns.memory import TurnMemory
from ledger.state import NO_TURNS, OpenReview, RunState

STEPS = frozenset({"step.judged", "step.observed"})


def step_type(run: RunState) -> str:
    """A step that is only observed is an entry of its own kind: nothing was decided."""
    return "step.observed" if run.observed else "step.judged"


def after_step(run: RunState, verdict: StepVerdict, at: datetime) -> RunState:
    """A judged step: totals and memory move; a stop latches at once."""
    decision = "" if run.observed else verdict.decision
    moved = replace(
        run, used=verdict.used, memory=verdict.memory, last_decision=decision
    )
    if decision == "stop":
        return moved.moved("stopped", reason=headline(verdict, "stop"), at=at)
    return moved


def after_stored_step(
    run: RunState, payload: Mapping[str, Any], at: datetime
) -> RunState:
    """The same from its entry, with nothing judged again: the status and the number."""
    verdict = payload["verdict"]
    decision = "" if run.observed else verdict["decision"]
    memory = replace(run.memory, last_step=payload["report"]["number"])
    moved = replace(run, memory=memory, last_decision=decision)
    if decision == "stop":
        findings = verdict["findings"]
        reason = next(f["message"] for f in findings if f["decision"] == "stop")
        return moved.moved("stopped", reason=reason, at=at)
    return moved


def turns_repeat(run: RunState, policy: Policy) -> int:
    """The cycle that the agent's turns are in, which the next step is judged by."""
    times = policy.continue_limits.repeat_limit
    return run.turns.repetition(times=times) or 0


def after(
    run: RunState, entry_type: str, payload: Mapping[str, Any], at: datetime
) -> RunState:
    """Every other entry. An unknown type is an error, never a no-op."""
    match entry_type:
        case "run.started" | "review.claimed" | "review.released" | "review.commented":
            return run
        case "call.claimed" | "call.expired" | "call.replayed" | "permission.revoked":
            return run
        case "checkpoint.redacted":
            return run
        case "check.opened" | "check.judged" | "warning.acknowledged":
            return run
        case "agent.observed":
            return run
        case "loop.signalled" | "loop.decided" | "loop.emitted" | "loop.resolved":
            return run
        case "loop.switched" | "loop.reported" | "loop.alerted":
            return run
        case "loop.heard" | "loop.noted" | "loop.recommended":
            return run
        case "turn.judged":
            return replace(run, turns=after_turn(run, payload))
        case "call.judged":
            granted = payload["grant"] is not None
            calls = run.memory.calls.judged(weight=payload["weight"], granted=granted)
            moved = replace(run, memory=replace(run.memory, calls=calls))
            return _with_call(moved) if granted else moved
        case "call.settled":
            return _settled(run, payload)
        case "checkpoint.saved":
            return replace(run, memory=run.memory.checkpointed(payload["step"]))
        case "review.opened":
            review = OpenReview(
                code=payload["review"],
                kind=payload["kind"],
                version=payload["version"],
                digest=payload["content_digest"],
                due_at=datetime.fromisoformat(payload["due_at"]),
                on_expiry=payload["on_expiry"],
            )
            opened = replace(run, open_reviews=(*run.open_reviews, review))
            if review.kind == "loop_action":
                return opened  # one action waits, the loop does not
            return opened.moved("paused", reason=payload["title"], at=at)
        case "review.ruled":
            return _after_ruling(run, payload, at)
        case "review.withdrawn":
            return _resumed(run.without_review(payload["review"]), at)
        case "review.expired" | "review.superseded":
            return run.without_review(payload["review"])
        case "run.finished":
            return run.moved(
                payload["outcome"], reason=payload.get("summary", ""), at=at
            )
        case "run.stopped" | "run.aborted" | "run.abandoned":
            status = entry_type.removeprefix("run.")
            return run.moved(status, reason=payload["reason"], at=at)
        case "run.reopened":
            fresh = replace(
                run,
                budget=Budget(**payload["budget"]),
                memory=run.memory.fresh_start(),
                turns=NO_TURNS,
            )
            return fresh.moved("running", reason=payload["reason"], at=at)
        case _:
            raise ValueError(f"An entry of type {entry_type} is not known.")


def after_turn(run: RunState, payload: Mapping[str, Any]) -> TurnMemory:
    """What the run remembers once this turn was judged."""
    return run.turns.after(
        TurnFacts(**payload["facts"]),
        action=payload["verdict"]["action"],
        tools=payload["tools"],
    )


def _with_call(run: RunState) -> RunState:
    """One more call may run: it counts from now on, whether or not it ever does."""
    used = replace(run.used, tool_calls=run.used.tool_calls + 1)
    return replace(run, used=used)


def _settled(run: RunState, payload: Mapping[str, Any]) -> RunState:
    used = replace(
        run.used,
        tokens=run.used.tokens + payload["tokens"],
        time_ms=run.used.time_ms + payload["duration_ms"],
        cost_micros=run.used.cost_micros + payload["cost_micros"],
    )
    calls = run.memory.calls.resulted(ok=payload["ok"])
    return replace(run, used=used, memory=replace(run.memory, calls=calls))


def _after_ruling(run: RunState, payload: Mapping[str, Any], at: datetime) -> RunState:
    ruled = run.without_review(payload["review"])
    if payload["action"] == "abort":
        return ruled  # the run.aborted entry that follows closes it
    if payload["kind"] in {"pause", "question"}:
        ruled = replace(ruled, turns=ruled.turns.answered())
    if payload["kind"] == "pause":
        ruled = replace(ruled, memory=ruled.memory.new_segment())
    if payload.get("grant") is not None:
        calls = ruled.memory.calls.judged(weight=0.0, granted=True)
        ruled = _with_call(replace(ruled, memory=replace(ruled.memory, calls=calls)))
    return _resumed(ruled, at)


def _resumed(run: RunState, at: datetime) -> RunState:
    """Running again once nothing waits for a person any more."""
    if run.status == "paused" and not run.open_reviews:
        return run.moved("running", reason="", at=at)
    return run


def headline(verdict: StepVerdict, decision: str) -> str:
    """The words of the first finding that led to this decision."""
    return next(f.message for f in verdict.findings if f.decision == decision)


def started(run: RunState, payload: Mapping[str, Any]) -> RunState:
    """A run as its first entry describes it, before anything happened."""
    return replace(
        run,
        status="running",
        status_reason="",
        budget=Budget(**payload["budget"]),
        memory=Memory(),
        turns=NO_TURNS,
        observed=payload.get("observed", False),
    )


_REPORT_FIELDS = tuple(field.name for field in fields(StepReport))


def report_to_json(report: StepReport) -> dict[str, Any]:
    # asdict() would copy deeply what cannot change, on the way of every step.
    document = {name: getattr(report, name) for name in _REPORT_FIELDS}
    return {**document, "confidences": list(report.confidences)}


def report_from_json(document: Mapping[str, Any]) -> StepReport:
    return StepReport(**{**document, "confidences": tuple(document["confidences"])})
