"""What entries about reviews, permissions and policies do to a run."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from ledger.entry_types import Payload, register_entry_type
from ledger.state import OpenReview, RunState


def register_entry_types() -> None:
    register_entry_type("review.opened", apply=apply_opened)
    register_entry_type("review.ruled", apply=apply_ruled)
    register_entry_type("review.withdrawn", apply=apply_withdrawn)
    for name in ("review.expired", "review.superseded"):
        register_entry_type(name, apply=apply_closed)
    for name in ("review.claimed", "review.released", "review.commented"):
        register_entry_type(name)
    for name in ("permission.revoked", "exemption.made", "exemption.revoked"):
        register_entry_type(name)
    for name in ("warning.acknowledged", "policy.refused"):
        register_entry_type(name)
    for name in (
        "policy.recorded",
        "policy.stored",
        "policy.activated",
        "policy.assigned",
        "policy.shadow_started",
        "policy.shadow_stopped",
    ):
        register_entry_type(name)


def apply_opened(run: RunState, payload: Payload, at: datetime) -> RunState:
    review = OpenReview(
        code=payload["review"],
        kind=payload["kind"],
        version=payload["version"],
        digest=payload["content_digest"],
        due_at=datetime.fromisoformat(payload["due_at"]),
        on_expiry=payload["on_expiry"],
    )
    opened = replace(run, open_reviews=(*run.open_reviews, review))
    if review.kind in {"loop_action", "policy_change"}:
        return opened  # one action waits, its chain goes on
    return opened.with_status("paused", reason=payload["title"], at=at)


def apply_ruled(run: RunState, payload: Payload, at: datetime) -> RunState:
    ruled = run.without_review(payload["review"])
    if payload["action"] == "abort":
        return ruled  # the run.aborted entry that follows closes it
    if payload["kind"] in {"pause", "question"}:
        ruled = replace(ruled, turns=ruled.turns.clear_after_answer())
    if payload["kind"] == "pause":
        ruled = replace(ruled, memory=ruled.memory.start_segment())
    if payload.get("grant") is not None:
        calls = ruled.memory.calls.count_verdict(weight=0.0, granted=True)
        ruled = count_call(replace(ruled, memory=replace(ruled.memory, calls=calls)))
    return _resume(ruled, at)


def apply_withdrawn(run: RunState, payload: Payload, at: datetime) -> RunState:
    return _resume(run.without_review(payload["review"]), at)


def apply_closed(run: RunState, payload: Payload, _at: datetime) -> RunState:
    return run.without_review(payload["review"])


def count_call(run: RunState) -> RunState:
    """One more call may run: it counts from now on, whether or not it ever does."""
    used = replace(run.used, tool_calls=run.used.tool_calls + 1)
    return replace(run, used=used)


def _resume(run: RunState, at: datetime) -> RunState:
    """Running again once nothing waits for a person any more."""
    if run.status == "paused" and not run.open_reviews:
        return run.with_status("running", reason="", at=at)
    return run
