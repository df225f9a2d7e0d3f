"""An approved plan ends: used up, over its time or cost, or another one takes its place."""

from __future__ import annotations

from ledger.plan import Plan

# Why one ends, beside what the plan itself knows.
REPLACED = "replaced"
RUN_ENDED = "run_ended"


def end_plan(plan: Plan, *, reason: str, actor: str) -> None:
    """The one that stands, if any does."""
    stands = plan.run.memory.plan
    if stands is None:
        return
    plan.add_entry(
        "plan.ended",
        actor=actor,
        payload={
            "plan": stands.code,
            "review": stands.review,
            "reason": reason,
            "used": stands.list_uses(),
            "outside": stands.outside,
        },
    )


def end_used_plan(plan: Plan, *, actor: str) -> None:
    """After a call was judged: it may have been the last one that the plan covers."""
    stands = plan.run.memory.plan
    if stands is None:
        return
    reason = stands.find_end(cost_micros=plan.run.used.cost_micros, at=plan.at)
    if reason is not None:
        end_plan(plan, reason=reason, actor=actor)
