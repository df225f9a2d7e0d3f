"""Reviews opened and closed as part of a plan, and what closing a run takes with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any, Protocol, TypeVar
from uuid import UUID

from common.ids import uuid7
from guidance.core.canonical import hash_text, to_canonical_json
from guidance.core.policy import ReviewRules
from guidance.core.reviews.four_eyes import count_needed
from guidance.core.reviews.severity import raise_severity
from guidance.core.reviews.working_time import decide_deadlines
from guidance.core.steps.gates.budget import describe_time_over
from guidance.selectors import get_policy
from guidance.time_zones import find_zone
from ledger.chain import format_timestamp
from ledger.plan import Plan, Statement
from ledger.state import OpenReview, RunState
from ledger.writer import ChangeRequest
from reviews.models import Grant, GrantState, Review, ReviewState
from reviews.queue.likeness import build_alike_key
from reviews.queue.subjects import count_urgency, find_subject

T = TypeVar("T")
CLOCK = "system:clock"
_CLOSE = (
    "UPDATE reviews_review SET state = %s, version = %s, closed_at = %s "
    "WHERE code = %s AND state = 'open'"
)
# The last ruling on the run, if it let something go on; a call must have been run.
_REGRET = """
UPDATE reviews_rulingfact SET regretted = TRUE
 WHERE id = (SELECT id FROM reviews_rulingfact
              WHERE run_id = %s AND action <> 'abort' ORDER BY id DESC LIMIT 1)
   AND action IN ('approve', 'amend', 'skip')
   AND (kind <> 'confirmation' OR EXISTS (
        SELECT 1 FROM reviews_ruling ruling
          JOIN reviews_review review ON review.id = ruling.review_id
          JOIN reviews_toolcall asked ON asked.review_id = review.code
          JOIN reviews_grant permit ON permit.call_id = asked.code
         WHERE ruling.code = reviews_rulingfact.ruling_id AND permit.state = 'spent'))
"""


_REGRET_CALL = """
UPDATE reviews_rulingfact SET regretted = TRUE
 WHERE action IN ('approve', 'amend')
   AND ruling_id = (SELECT ruling.code FROM reviews_ruling ruling
                      JOIN reviews_review review ON review.id = ruling.review_id
                     WHERE review.code = %s)
"""


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


def has_follow_ups(run: RunState) -> bool:
    return any(review.kind in _closed_hooks for review in run.open_reviews)


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


def find_severity(run: RunState, *, kind: str, content: Mapping[str, Any]) -> str:
    """The severity that the run's policy gives, whatever its agent asks for."""
    rules = get_policy(run.policy_id).policy.reviews.severity
    return find_subject(kind, content, rules).severity


def open_review(
    plan: Plan,
    *,
    kind: str,
    title: str,
    content: dict[str, Any],
    actor: str,
    step: int | None = None,
    rules: ReviewRules | None = None,
    asked_severity: str | None = None,
) -> str:
    """Put the run before a person; returns the new review's code. An agent may ask for a
    higher severity than the policy gives, as far as that lets it, never for a lower one."""
    code = str(uuid7())
    rules = rules or get_policy(plan.run.policy_id).policy.reviews
    subject = find_subject(kind, content, rules.severity)
    severity = raise_severity(rules.severity, subject.severity, asked=asked_severity)
    answer_by, due_at = decide_deadlines(
        rules,
        kind=kind,
        severity=severity,
        opened_at=plan.at,
        zone=find_zone(rules.working_hours.zone) or UTC,
    )
    needed = _count_needed(plan.run, kind=kind, severity=severity, names=subject.names)
    text = to_canonical_json(content)
    title = title[:300]
    alike_key = build_alike_key(
        kind=kind,
        title=title,
        content=content,
        subject=subject,
        severity=severity,
        agent_id=plan.run.agent_id,
    )
    plan.add_entry(
        "review.opened",
        actor=actor,
        payload={
            "review": code,
            "kind": kind,
            "title": title,
            "version": 1,
            "content_digest": hash_text(text),
            "severity": severity,
            "reversibility": subject.reversibility,
            "answer_by": format_timestamp(answer_by),
            "due_at": format_timestamp(due_at),
            "on_expiry": rules.on_expiry,
            "step": step,
            **({"approvals_needed": needed} if needed > 1 else {}),
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
            severity=severity,
            reversibility=subject.reversibility,
            urgency=count_urgency(
                severity=severity, reversibility=subject.reversibility
            ),
            alike_key=alike_key,
            step_number=step,
            opened_at=plan.at,
            answer_by=answer_by,
            due_at=due_at,
            on_expiry=rules.on_expiry,
            approvals_needed=needed,
        )
    )
    return code


def _count_needed(
    run: RunState, *, kind: str, severity: str, names: Sequence[str]
) -> int:
    return count_needed(
        get_policy(run.policy_id).policy.four_eyes,
        kind=kind,
        severity=severity,
        names=names,
        labels=run.labels,
    )


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
    cause: str,
    **more: str,
) -> None:
    """Close the run and supersede its open reviews; `more` stands in the last entry.

    `cause` is the reason in one word of a small vocabulary, by which ends are counted.
    """
    for review in plan.run.open_reviews:
        plan.add_entry(
            "review.superseded", actor=actor, payload={"review": review.code}
        )
        end_review(plan, review, ReviewState.SUPERSEDED)
        call_closed_hook(plan, review, follow_ups, ending="superseded", actor=actor)
    plan.add_entry(
        entry_type, actor=actor, payload={"reason": reason, "cause": cause, **more}
    )
    if entry_type == "run.aborted" and actor.startswith("user:") and not more:
        # A person looked at this very run; one below it was only taken along.
        mark_regretted(plan)
    revoke_grants(plan)
    plan.wakes_waiters = True


def mark_regretted(plan: Plan) -> None:
    """The run ended badly: so did what the last ruling on it let go on."""
    plan.statements.append(build_regret_statement(plan.run.id))


def build_regret_statement(run_id: int) -> Statement:
    return Statement(_REGRET, [run_id])


def mark_failed_call(plan: Plan, *, review: UUID) -> None:
    """The call failed: so did the ruling on this review, which let it run."""
    plan.statements.append(Statement(_REGRET_CALL, [review]))


def stop_at_time_limit(plan: Plan, follow_ups: FollowUps) -> None:
    """The run has used up its time, as reported or by the server's clock."""
    run, limit_ms = plan.run, plan.run.budget.time_ms
    assert limit_ms is not None  # else it is never over
    reason = describe_time_over(
        limit_ms=limit_ms,
        reported_ms=run.used.time_ms,
        running_ms=run.measure_running_ms(plan.at) or 0,
    )
    close_run(
        plan,
        follow_ups,
        "run.stopped",
        actor=CLOCK,
        reason=reason,
        cause="time_limit",
    )


def revoke_grants(plan: Plan) -> None:
    """The run is closed: what may still have been run may not any more."""
    unspent = Grant.objects.filter(run_id=plan.run.id, state=GrantState.ISSUED)
    plan.side_updates.append(
        partial(unspent.update, state=GrantState.REVOKED, ended_at=plan.at)
    )
