"""Reviews opened and closed as part of a plan, and what closing a run takes with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Protocol, TypeVar
from uuid import UUID

from common.ids import uuid7
from guidance.core.canonical import hash_text, to_canonical_json
from guidance.core.policy import ReviewRules
from guidance.core.steps.gates.budget import describe_time_over
from guidance.selectors import get_policy
from ledger.chain import format_timestamp
from ledger.plan import Plan, Statement
from ledger.state import OpenReview, RunState
from ledger.writer import ChangeRequest
from reviews.models import Grant, GrantState, Review, ReviewState

T = TypeVar("T")
CLOCK = "system:clock"
_CLOSE = (
    "UPDATE reviews_review SET state = %s, version = %s, closed_at = %s "
    "WHERE code = %s AND state = 'open'"
)


class FollowUp(Protocol):
    """What an app above this one adds to the plan of a review's end, without another look
    at the database. `ending` is the ruling, `expired` or `superseded`; a refusal leaves
    the review open."""

    def __call__(self, plan: Plan, *, ending: str, actor: str) -> None: ...


# By the code of the review.
FollowUps = Mapping[str, FollowUp]
LoadFollowUps = Callable[[RunState, Sequence[OpenReview], datetime], FollowUps]
_closed_hooks: dict[str, LoadFollowUps] = {}


def register_closed_hook(kind: str, load: LoadFollowUps) -> None:
    """For apps at start-up. `load` is called under the project's lock."""
    _closed_hooks[kind] = load


def load_follow_ups(run: RunState, at: datetime) -> FollowUps:
    """What would follow from the end of each open review of this run."""
    found: dict[str, FollowUp] = {}
    for kind in {review.kind for review in run.open_reviews} & _closed_hooks.keys():
        reviews = [review for review in run.open_reviews if review.kind == kind]
        found.update(_closed_hooks[kind](run, reviews, at))
    return found


def call_closed_hook(
    plan: Plan, review: OpenReview, follow_ups: FollowUps, *, ending: str, actor: str
) -> None:
    if review.kind in _closed_hooks:
        follow_ups[review.code](plan, ending=ending, actor=actor)


@dataclass(kw_only=True)
class ClosingRequest(ChangeRequest[T]):
    """A change request that may end reviews, or a run and its reviews with it."""

    follow_ups: FollowUps = field(default_factory=dict, init=False)

    def load(self, run: RunState, at: datetime) -> None:
        self.follow_ups = load_follow_ups(run, at)


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
    text = to_canonical_json(content)
    title = title[:300]
    plan.add_entry(
        "review.opened",
        actor=actor,
        payload={
            "review": code,
            "kind": kind,
            "title": title,
            "version": 1,
            "content_digest": hash_text(text),
            "due_at": format_timestamp(due_at),
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
            content_digest=hash_text(text),
            step_number=step,
            opened_at=plan.at,
            due_at=due_at,
            on_expiry=rules.on_expiry,
        )
    )
    return code


def end_review(plan: Plan, review: OpenReview, state: ReviewState) -> None:
    """The row's side of a review's end; the entry is noted by the caller."""
    plan.wakes_waiters = True
    values = [state.value, review.version + 1, plan.at, UUID(review.code)]
    plan.statements.append(Statement(_CLOSE, values))


def close_run(
    plan: Plan,
    follow_ups: FollowUps,
    entry_type: str,
    *,
    actor: str,
    reason: str,
    **more: str,
) -> None:
    """Close the run and supersede its open reviews; `more` stands in the last entry."""
    for review in plan.run.open_reviews:
        plan.add_entry(
            "review.superseded", actor=actor, payload={"review": review.code}
        )
        end_review(plan, review, ReviewState.SUPERSEDED)
        call_closed_hook(plan, review, follow_ups, ending="superseded", actor=actor)
    plan.add_entry(entry_type, actor=actor, payload={"reason": reason, **more})
    revoke_grants(plan)
    plan.wakes_waiters = True


def stop_at_time_limit(plan: Plan, follow_ups: FollowUps) -> None:
    """The run has used up its time, as reported or by the server's clock."""
    run, limit_ms = plan.run, plan.run.budget.time_ms
    assert limit_ms is not None  # else it is never over
    reason = describe_time_over(
        limit_ms=limit_ms,
        reported_ms=run.used.time_ms,
        running_ms=run.measure_running_ms(plan.at) or 0,
    )
    close_run(plan, follow_ups, "run.stopped", actor=CLOCK, reason=reason)


def revoke_grants(plan: Plan) -> None:
    """The run is closed: what may still have been run may not any more."""
    unspent = Grant.objects.filter(run_id=plan.run.id, state=GrantState.ISSUED)
    plan.side_updates.append(
        partial(unspent.update, state=GrantState.REVOKED, ended_at=plan.at)
    )
