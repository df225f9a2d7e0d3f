"""What time does by itself: reviews expire, silent runs are abandoned, and runs whose
time is used up are stopped.

A sweep finds what is due; the change request judges again under the lock, because a person
may have been faster. Expiry never approves.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial

from django.utils import timezone

from accounts.models import SYSTEM_AGENTS
from common.errors import DomainError
from guidance.selectors import get_policy
from ledger.chain import format_timestamp
from ledger.halts.held_runs import exclude_held
from ledger.models import Run, RunStatus
from ledger.plan import Plan
from ledger.state import OpenReview, RunState
from ledger.writer import Change, ChangeRequest, SealedEntry, get_writer
from ledger.writer.halts import Halted
from reviews.errors import ReviewNotOpen, RunClosed
from reviews.models import Review, ReviewState
from reviews.plan import (
    CLOCK,
    ClosingRequest,
    FollowUps,
    call_closed_hook,
    close_run,
    end_review,
    stop_at_time_limit,
)
from reviews.queue.filters import OPEN

SWEEP_LIMIT = 500
SHORTEST_PATIENCE = timedelta(minutes=1)
DENY = "deny"

logger = logging.getLogger(__name__)


def _return_true(_entries: Sequence[SealedEntry]) -> bool:
    return True


@dataclass(kw_only=True)
class ExpireReview(ClosingRequest[bool]):
    obeys_halts = True

    review_code: str

    def decide(self, run: RunState, at: datetime) -> Change[bool]:
        review = run.open_review(self.review_code)
        if review is None or at < review.due_at:
            raise ReviewNotOpen("The review is not due.")
        return expire_review(run, review, at, self.follow_ups).change(_return_true)


def expire_review(
    run: RunState, review: OpenReview, at: datetime, follow_ups: FollowUps
) -> Plan:
    """What the end of a review's time does: to the review, and to its run."""
    plan = Plan(run, at)
    plan.add_entry(
        "review.expired",
        actor=CLOCK,
        payload={"review": review.code, "outcome": review.on_expiry},
    )
    end_review(plan, review, ReviewState.EXPIRED)
    call_closed_hook(plan, review, follow_ups, ending="expired", actor=CLOCK)
    if review.on_expiry == DENY:
        return plan  # it was about one action, not about the run
    closing = "run.stopped" if review.on_expiry == "stop" else "run.aborted"
    close_run(
        plan,
        follow_ups,
        closing,
        actor=CLOCK,
        reason="Nobody ruled on the review in time.",
        cause="review_expired",
    )
    return plan


@dataclass(kw_only=True)
class NoteLateReview(ChangeRequest[bool]):
    """Once for each review, however many sweeps meet it."""

    obeys_halts = True

    review_code: str
    untold: Review | None = field(default=None, init=False)

    def load(self, run: RunState, at: datetime) -> None:
        rows = Review.objects.filter(code=self.review_code, late_at__isnull=True)
        self.untold = rows.only("severity", "answer_by").first()

    def decide(self, run: RunState, at: datetime) -> Change[bool]:
        review, row = run.open_review(self.review_code), self.untold
        if review is None or row is None or not row.answer_by <= at < review.due_at:
            raise ReviewNotOpen("The review is not late, or that was told.")
        plan = Plan(run, at)
        plan.add_entry(
            "review.late",
            actor=CLOCK,
            payload={
                "review": review.code,
                "severity": row.severity,
                "answer_by": format_timestamp(row.answer_by),
            },
        )
        told = Review.objects.filter(pk=row.pk)
        plan.side_updates.append(partial(told.update, late_at=at))
        return plan.change(_return_true)


@dataclass(kw_only=True)
class AbandonRun(ClosingRequest[bool]):
    obeys_halts = True

    def decide(self, run: RunState, at: datetime) -> Change[bool]:
        if run.status != RunStatus.RUNNING or not _is_silent(run, at):
            raise RunClosed.from_run(run)
        plan = Plan(run, at)
        close_run(
            plan,
            self.follow_ups,
            "run.abandoned",
            actor=CLOCK,
            reason="The agent reported nothing more.",
            cause="silent",
        )
        return plan.change(_return_true)


@dataclass(kw_only=True)
class StopOverdueRun(ClosingRequest[bool]):
    obeys_halts = True

    def decide(self, run: RunState, at: datetime) -> Change[bool]:
        if run.status != RunStatus.RUNNING or not run.is_time_over(at):
            raise RunClosed.from_run(run)
        plan = Plan(run, at)
        stop_at_time_limit(plan, self.follow_ups)
        return plan.change(_return_true)


def _is_silent(run: RunState, at: datetime) -> bool:
    patience = get_policy(run.policy_id).policy.runs.abandon_after_s
    return at >= run.updated_at + timedelta(seconds=patience)


def note_late_reviews() -> int:
    """Tell the ledger of every open review whose time to answer is over; how many it was
    told here. Whoever is to be reminded learns it from there."""
    now = timezone.now()
    late = Review.objects.filter(
        state=OPEN, late_at__isnull=True, answer_by__lte=now, due_at__gt=now
    )
    found = exclude_held(late, run="run").values_list("run__code", "code")
    return sum(
        _attempt(NoteLateReview(run_code=str(run), review_code=str(review)))
        for run, review in found[:SWEEP_LIMIT]
    )


def expire_due_reviews() -> int:
    """End every review whose time is over; returns how many ended here."""
    due = Review.objects.filter(state=ReviewState.OPEN, due_at__lte=timezone.now())
    found = exclude_held(due, run="run").values_list("run__code", "code")
    return sum(
        _attempt(ExpireReview(run_code=str(run), review_code=str(review)))
        for run, review in found[:SWEEP_LIMIT]
    )


def abandon_silent_runs() -> int:
    """End every running run that has been silent for longer than its policy allows."""
    long_ago = timezone.now() - SHORTEST_PATIENCE
    # What began later cannot have been silent for so long: that is indexed.
    running = Run.objects.filter(
        status=RunStatus.RUNNING, created_at__lte=long_ago, updated_at__lte=long_ago
    )
    idle = (
        exclude_held(running, run="pk")
        .exclude(intent__in=SYSTEM_AGENTS)
        .order_by("updated_at")
        .values_list("code", "policy_id", "updated_at")
    )
    now = timezone.now()
    return sum(
        _attempt(AbandonRun(run_code=str(code)))
        for code, policy_id, updated_at in idle
        if now
        >= updated_at
        + timedelta(seconds=get_policy(policy_id).policy.runs.abandon_after_s)
    )


def stop_overdue_runs() -> int:
    """Stop every running run that has used up its time and reports nothing more."""
    over = Run.objects.filter(
        status=RunStatus.RUNNING, time_over_at__lte=timezone.now()
    )
    overdue = (
        exclude_held(over, run="pk")
        .order_by("time_over_at")
        .values_list("code", flat=True)[:SWEEP_LIMIT]
    )
    return sum(_attempt(StopOverdueRun(run_code=str(code))) for code in overdue)


def _attempt(change_request: ChangeRequest[bool]) -> bool:
    try:
        return get_writer().perform_now(change_request)
    except (ReviewNotOpen, RunClosed, Halted):
        return False  # somebody was faster: the better outcome
    except DomainError:
        logger.exception("A sweep could not end what is due")
        return False
