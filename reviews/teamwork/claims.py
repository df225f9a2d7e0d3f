"""Claims: who looks at a review. They end by themselves when their claimer is gone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

from django.db.models import Q
from django.utils import timezone

from accounts.models import User
from guidance.selectors import get_policy
from ledger.chain import format_timestamp
from ledger.plan import Plan
from ledger.state import RunState
from ledger.writer import Change, ChangeRequest
from reviews.errors import ReviewNotOpen
from reviews.models import Review
from reviews.plan import CLOCK
from reviews.queue.filters import OPEN
from reviews.rulings.rule import ReviewChangeRequest
from reviews.rulings.take_overs import (
    build_taken_from,
    get_other_claimer,
    refuse_unseen_claim,
)
from reviews.teamwork.snooze import BACK

# A claim that has more than this share of its time left is not written again.
RENEWED_BELOW = 0.8


def get_lease(policy_id: int) -> timedelta:
    """For how long a claim holds without its claimer."""
    rules = get_policy(policy_id).policy.reviews
    return timedelta(seconds=rules.claim_lease_s)


@dataclass(kw_only=True)
class ClaimReview(ReviewChangeRequest):
    """A claim tells the others who looks at it. It is no lock: anyone may rule, and
    anyone may take it over from its claimer."""

    take_over: str | None = None
    claimer: User | None = field(default=None, init=False)

    def load(self, run: RunState, at: datetime) -> None:
        self.claimer = get_other_claimer(self.review, self.person, at=at)

    def decide(self, run: RunState, at: datetime) -> Change[None]:
        review = self.open_review(run)
        if self.take_over is not None:
            refuse_unseen_claim(self.claimer, seen=self.take_over, to="take it over")
        plan = Plan(run, at)
        until = at + get_lease(run.policy_id)
        plan.add_entry(
            "review.claimed",
            actor=self.person.actor,
            payload={
                "review": review.code,
                "until": format_timestamp(until),
                **build_taken_from(self.claimer),
            },
        )
        # What was given to somebody else is theirs no more.
        of_others = Review.objects.filter(
            ~Q(assignee_id=self.person.user_id), pk=self.review.pk
        )
        plan.side_updates += [
            partial(of_others.update, assigned_at=None),
            self.build_update(
                assignee_id=self.person.user_id,
                claimed_at=at,
                claimed_until=until,
                **BACK,
            ),
        ]
        return plan.change()


class ReleaseReview(ReviewChangeRequest):
    def decide(self, run: RunState, at: datetime) -> Change[None]:
        review = self.open_review(run)
        plan = Plan(run, at)
        plan.add_entry(
            "review.released",
            actor=self.person.actor,
            payload={"review": review.code},
        )
        plan.side_updates.append(
            self.build_update(
                assignee_id=None, assigned_at=None, claimed_at=None, claimed_until=None
            )
        )
        return plan.change()


@dataclass(kw_only=True)
class EndClaim(ChangeRequest[bool]):
    """The claimer has not looked at it for the time that a claim holds: it is free again,
    or only assigned to them where somebody had given it to them."""

    review_code: str
    ended: Review | None = field(default=None, init=False)

    def load(self, run: RunState, at: datetime) -> None:
        rows = Review.objects.filter(code=self.review_code, claimed_until__lte=at)
        self.ended = rows.select_related("assignee").first()

    def decide(self, run: RunState, at: datetime) -> Change[bool]:
        row = self.ended
        if run.open_review(self.review_code) is None or row is None:
            raise ReviewNotOpen("The claim is renewed, or it ended.")
        plan = Plan(run, at)
        payload = {"review": self.review_code, "cause": "lease"}
        freed: dict[str, object] = {"claimed_at": None, "claimed_until": None}
        if row.assigned_at is None or row.assignee is None:
            freed["assignee_id"] = None
        else:
            payload["assignee"] = f"user:{row.assignee.code}"
        plan.add_entry("review.released", actor=CLOCK, payload=payload)
        changed = Review.objects.filter(pk=row.pk)
        plan.side_updates.append(partial(changed.update, **freed))
        return plan.change(lambda _entries: True)


def renew_claims(
    readers: Iterable[tuple[int, UUID]],
) -> list[tuple[int, UUID, datetime]]:
    """Put off the end of claims whose claimers look at them now: (person, review). One that
    has ended is not renewed, however late its end is noticed. Returns which were put off:
    (project, review, until)."""
    at, wanted = timezone.now(), set(readers)
    rows = Review.objects.filter(
        state=OPEN, code__in={code for _, code in wanted}, claimed_until__gt=at
    ).select_related("run")
    renewed = []
    for row in rows.only("code", "project", "assignee", "claimed_until", "run__policy"):
        lease = get_lease(row.run.policy_id)
        if (row.assignee_id, row.code) not in wanted or row.claimed_until is None:
            continue
        if row.claimed_until - at > lease * RENEWED_BELOW:
            continue
        held = Review.objects.filter(
            pk=row.pk, state=OPEN, assignee_id=row.assignee_id, claimed_until__gt=at
        )
        if held.update(claimed_until=at + lease):
            renewed.append((row.project_id, row.code, at + lease))
    return renewed
