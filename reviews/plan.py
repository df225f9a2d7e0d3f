"""Reviews opened and closed as part of a plan, and what closing a run takes with it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID

from common.ids import uuid7
from guidance.core.canonical import canonical, digest
from guidance.core.policy import ReviewRules
from guidance.selectors import get_policy
from ledger.chain import timestamp
from ledger.plan import Plan, Statement
from ledger.state import OpenReview
from reviews.models import Grant, GrantState, Review, ReviewState

CLOCK = "system:clock"
_CLOSE = (
    "UPDATE reviews_review SET state = %s, version = %s, closed_at = %s "
    "WHERE code = %s AND state = 'open'"
)

# What an app above this one adds to the end of a review of one kind. It is called while
# the end is decided, under the project's lock: what it adds is stored with the end, and
# its refusal leaves the review open. It gets the plan, the review, how it ended (the
# ruling, expired or superseded), and by whom.
ClosedHook = Callable[[Plan, OpenReview, str, str], None]
_closed_hooks: dict[str, ClosedHook] = {}


def register_closed_hook(kind: str, hook: ClosedHook) -> None:
    """For apps at start-up."""
    _closed_hooks[kind] = hook


def call_closed_hook(
    plan: Plan, review: OpenReview, *, ending: str, actor: str
) -> None:
    hook = _closed_hooks.get(review.kind)
    if hook is not None:
        hook(plan, review, ending, actor)


def open_review(
    plan: Plan,
    *,
    kind: str,
    title: str,
    content: dict[str, Any],
    actor: str,
    step: int | None = None,
    rules: ReviewRules | None = None,
) -> str:
    """Put the run before a person; returns the new review's code."""
    code = str(uuid7())
    rules = rules or get_policy(plan.run.policy_id).policy.reviews
    due_at = plan.at + timedelta(seconds=rules.expires_after_s)
    text = canonical(content)
    title = title[:300]
    plan.note(
        "review.opened",
        actor=actor,
        payload={
            "review": code,
            "kind": kind,
            "title": title,
            "version": 1,
            "content_digest": digest(text),
            "due_at": timestamp(due_at),
            "on_expiry": rules.on_expiry,
            "step": step,
        },
    )
    plan.rows.append(
        Review(
            code=code,
            project_id=plan.run.project_id,
            run_id=plan.run.id,
            kind=kind,
            title=title,
            content=text,
            content_digest=digest(text),
            step_number=step,
            opened_at=plan.at,
            due_at=due_at,
            on_expiry=rules.on_expiry,
        )
    )
    return code


def end_review(plan: Plan, review: OpenReview, state: ReviewState) -> None:
    """The row's side of a review's end; the entry is noted by the caller."""
    plan.wakes = True
    values = [state.value, review.version + 1, plan.at, UUID(review.code)]
    plan.statements.append(Statement(_CLOSE, values))


def close_run(plan: Plan, entry_type: str, *, actor: str, reason: str) -> None:
    """Close the run and supersede its open reviews, in the same transaction."""
    for review in plan.run.open_reviews:
        plan.note("review.superseded", actor=actor, payload={"review": review.code})
        end_review(plan, review, ReviewState.SUPERSEDED)
        call_closed_hook(plan, review, ending="superseded", actor=actor)
    plan.note(entry_type, actor=actor, payload={"reason": reason})
    revoke_grants(plan)
    plan.wakes = True


def revoke_grants(plan: Plan) -> None:
    """The run is closed: what may still have been run may not any more."""
    unspent = Grant.objects.filter(run_id=plan.run.id, state=GrantState.ISSUED)
    plan.effects.append(
        partial(unspent.update, state=GrantState.REVOKED, ended_at=plan.at)
    )
