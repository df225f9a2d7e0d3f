"""What entries about reviews, permissions and policies do to a run."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from guidance.core.runs.allowances import (
    Allowance,
    remove_allowance,
    replace_allowance,
)
from guidance.core.runs.memory import Memory
from guidance.core.runs.plans import (
    PURPOSE_KEPT,
    ApprovedCall,
    ApprovedStep,
    RunPlan,
)
from ledger.entry_types import Payload, register_entry_type
from ledger.state import OpenReview, RunState

# What is done to a project's people, agents and settings: entries of a chain of its own.
ADMINISTRATION = (
    *("settings.recorded", "project.created", "project.changed"),
    *("agent.created", "agent.changed", "key.made", "key.revoked"),
    *("person.invited", "person.joined", "person.changed", "person.removed"),
    *("person.invitation_withdrawn", "person.password_link"),
    *("person.password_given", "password.changed", "password.rehashed"),
    *("token.made", "token.revoked", "sign_in.ended", "profile.changed"),
    *("halt.started", "halt.released"),
)


def register_entry_types() -> None:
    register_entry_type("review.opened", apply=apply_opened)
    register_entry_type("review.ruled", apply=apply_ruled)
    register_entry_type("review.approved", apply=apply_approved)
    register_entry_type("review.amended", apply=apply_amended)
    register_entry_type("review.withdrawn", apply=apply_withdrawn)
    for name in ("review.expired", "review.superseded"):
        register_entry_type(name, apply=apply_closed)
    for name in (
        "review.assigned",
        "review.snoozed",
        "review.returned",
        "review.claimed",
        "review.released",
        "review.commented",
        *("review.late", "review.held", "review.taken_back", "review.unsent"),
    ):
        register_entry_type(name)
    register_entry_type("allowance.given", apply=apply_allowed)
    register_entry_type("allowance.ended", apply=apply_allowance_end)
    register_entry_type("note.written", apply=apply_note)
    register_entry_type("note.delivered", apply=apply_note_delivery)
    register_entry_type("note.read", apply=apply_note_reading)
    register_entry_type("plan.submitted")
    register_entry_type("plan.approved", apply=apply_approved_plan)
    register_entry_type("plan.ended", apply=apply_plan_end)
    for name in ("permission.revoked", "exemption.made", "exemption.revoked"):
        register_entry_type(name)
    for name in ("note.added", "warning.acknowledged", "policy.refused"):
        register_entry_type(name)
    for name in (
        "policy.recorded",
        "policy.stored",
        "policy.activated",
        "policy.assigned",
        "policy.shadow_started",
        "policy.shadow_stopped",
        "limit.raised",
    ):
        register_entry_type(name)
    register_entry_type("run.deadlines_moved", apply=apply_moved_deadlines)
    for name in ADMINISTRATION:
        register_entry_type(name)


def apply_moved_deadlines(run: RunState, payload: Payload, _at: datetime) -> RunState:
    """The run gets back the time for which it was halted."""
    for moved in payload["reviews"]:
        review = run.open_review(moved["review"])
        if review is not None:
            due_at = datetime.fromisoformat(moved["due_at"])
            run = run.with_review(replace(review, due_at=due_at))
    since = payload["running_since"]
    if since is not None and run.running_time is not None:
        time = replace(run.running_time, since=datetime.fromisoformat(since))
        run = replace(run, running_time=time)
    return replace(run, memory=_move_memory(run.memory, payload))


def _move_memory(memory: Memory, payload: Payload) -> Memory:
    """Older entries say nothing of what was allowed beforehand."""
    ends = {
        moved["allowance"]: datetime.fromisoformat(moved["ends_at"])
        for moved in payload.get("allowances", ())
    }
    allowances = tuple(
        replace(each, ends_at=ends.get(each.code, each.ends_at))
        for each in memory.allowances
    )
    plan, moved = memory.plan, payload.get("plan")
    if plan is not None and moved is not None and plan.code == moved["plan"]:
        plan = replace(plan, ends_at=datetime.fromisoformat(moved["ends_at"]))
    return memory._replace(allowances=allowances, plan=plan)


def apply_opened(run: RunState, payload: Payload, at: datetime) -> RunState:
    review = OpenReview(
        code=payload["review"],
        kind=payload["kind"],
        version=payload["version"],
        digest=payload["content_digest"],
        due_at=datetime.fromisoformat(payload["due_at"]),
        on_expiry=payload["on_expiry"],
        approvals_needed=payload.get("approvals_needed", 1),
    )
    opened = replace(run, open_reviews=(*run.open_reviews, review))
    if review.kind in {"loop_action", "policy_change"}:
        return opened  # one action waits, its chain goes on
    return opened.with_status("paused", reason=payload["title"], at=at)


def apply_approved(run: RunState, payload: Payload, _at: datetime) -> RunState:
    """One of several approvals: the run waits as before."""
    review = run.open_review(payload["review"])
    if review is None:
        return run
    approved_by = (*review.approved_by, payload["by"])
    return run.with_review(
        replace(review, version=review.version + 1, approved_by=approved_by)
    )


def apply_amended(run: RunState, payload: Payload, _at: datetime) -> RunState:
    """Something else is to run: nobody has approved that yet."""
    review = run.open_review(payload["review"])
    if review is None:
        return run
    amended_by = tuple(dict.fromkeys((*review.amended_by, payload["by"])))
    return run.with_review(
        replace(
            review, version=review.version + 1, approved_by=(), amended_by=amended_by
        )
    )


def apply_ruled(run: RunState, payload: Payload, at: datetime) -> RunState:
    ruled = run.without_review(payload["review"])
    if payload["action"] == "abort":
        return ruled  # the run.aborted entry that follows closes it
    if payload["kind"] in {"pause", "question"}:
        ruled = ruled.copy_with(turns=ruled.turns.clear_after_answer())
    if payload["kind"] == "pause":
        ruled = ruled.copy_with(memory=ruled.memory.start_segment())
    if payload.get("grant") is not None:
        calls = ruled.memory.calls.count_verdict(weight=0.0, granted=True)
        ruled = count_call(replace(ruled, memory=ruled.memory._replace(calls=calls)))
    return _resume(ruled, at)


def build_allowance(payload: Payload, at: datetime) -> Allowance:
    """As its entry gives it."""
    return Allowance(
        code=payload["allowance"],
        review=payload["review"],
        gate=payload["gate"],
        up_to=float(payload["up_to"]),
        steps=payload["steps"],
        last_step=payload["last_step"],
        given_at=at,
        ends_at=datetime.fromisoformat(payload["ends_at"]),
        by=payload["by"],
    )


def apply_allowed(run: RunState, payload: Payload, at: datetime) -> RunState:
    given = build_allowance(payload, at)
    stands = replace_allowance(run.memory.allowances, given)
    return replace(run, memory=run.memory._replace(allowances=stands))


def apply_allowance_end(run: RunState, payload: Payload, _at: datetime) -> RunState:
    rest = remove_allowance(run.memory.allowances, payload["allowance"])
    return replace(run, memory=run.memory._replace(allowances=rest))


def apply_note(run: RunState, payload: Payload, _at: datetime) -> RunState:
    return replace(run, notes=run.notes.add(payload["id"]))


def apply_note_delivery(run: RunState, payload: Payload, _at: datetime) -> RunState:
    return replace(run, notes=run.notes.deliver(payload["notes"]))


def apply_note_reading(run: RunState, payload: Payload, _at: datetime) -> RunState:
    return replace(run, notes=run.notes.read(payload["notes"]))


def build_run_plan(payload: Payload) -> RunPlan:
    """As its entry gives it: calls that it does not cover are not in it."""
    limits = payload["limits"]
    return RunPlan(
        code=payload["plan"],
        review=payload["review"],
        ends_at=datetime.fromisoformat(payload["ends_at"]),
        tool_calls=limits["tool_calls"],
        cost_micros=limits["cost_micros"],
        cost_before=payload["cost_before_micros"],
        steps=tuple(
            ApprovedStep(
                number=step["number"],
                purpose=step["purpose"][:PURPOSE_KEPT],
                paths=tuple(step["paths"]),
                calls=tuple(
                    ApprovedCall(
                        number=call["number"],
                        key=call["key"],
                        shape_key=call["shape_key"],
                        rules=tuple(call["rules"]),
                        count=call["count"],
                    )
                    for call in step["calls"]
                ),
            )
            for step in payload["steps"]
        ),
    )


def apply_approved_plan(run: RunState, payload: Payload, _at: datetime) -> RunState:
    return replace(run, memory=run.memory._replace(plan=build_run_plan(payload)))


def apply_plan_end(run: RunState, payload: Payload, _at: datetime) -> RunState:
    stands = run.memory.plan
    if stands is None or stands.code != payload["plan"]:
        return run
    return replace(run, memory=run.memory._replace(plan=None))


def apply_withdrawn(run: RunState, payload: Payload, at: datetime) -> RunState:
    return _resume(run.without_review(payload["review"]), at)


def apply_closed(run: RunState, payload: Payload, _at: datetime) -> RunState:
    return run.without_review(payload["review"])


def count_call(run: RunState) -> RunState:
    """One more call may run: it counts from now on, whether or not it ever does."""
    used = run.used._replace(tool_calls=run.used.tool_calls + 1)
    return replace(run, used=used)


def _resume(run: RunState, at: datetime) -> RunState:
    """Running again once nothing waits for a person any more."""
    if run.status == "paused" and not run.open_reviews:
        return run.with_status("running", reason="", at=at)
    return run
