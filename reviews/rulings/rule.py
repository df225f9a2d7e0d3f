"""What a person may do to an open review: rule, claim, release, comment."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from uuid import UUID

from accounts.auth import PersonPrincipal
from accounts.models import User
from common.errors import Invalid, StaleVersion
from ledger.chain import format_timestamp
from ledger.plan import Plan, WaiterAnswer
from ledger.state import OpenReview, RunState
from ledger.writer import Change, ChangeRequest
from reviews.errors import ReviewExpired, ReviewNotOpen
from reviews.models import RULINGS, Comment, Review, ReviewState, Ruling
from reviews.plan import ClosingRequest, call_closed_hook, close_run, end_review
from reviews.rulings.approvals import Approval, GrantedCall
from reviews.rulings.expiry import expire_review
from reviews.rulings.gate_choices import Choice
from reviews.rulings.notice import build_decision_state
from reviews.rulings.take_overs import (
    build_taken_from,
    get_other_claimer,
    refuse_unseen_claim,
)
from reviews.serializers import build_ruling


@dataclass(kw_only=True)
class ReviewChangeRequest(ChangeRequest[None]):
    """Something a person does to one open review."""

    run_code: str = field(init=False)
    review: Review
    person: PersonPrincipal

    def __post_init__(self) -> None:
        self.run_code = str(self.review.run.code)

    @property
    def review_code(self) -> str:
        return str(self.review.code)

    def open_review(self, run: RunState) -> OpenReview:
        review = run.open_review(self.review_code)
        if review is None:
            raise ReviewNotOpen("The review is closed.")
        return review

    def build_update(self, **values: object) -> partial[int]:
        return partial(Review.objects.filter(pk=self.review.pk).update, **values)


@dataclass(kw_only=True)
class RuleReview(ReviewChangeRequest, ClosingRequest[None]):
    """`approval` is of a call that may run, `choice` what becomes of a check
    that ran out of attempts, `take_over` whose claim a form of the console has named."""

    action: str
    version: int
    content_digest: str
    note: str
    answer: str | None
    approval: Approval | None = None
    choice: Choice | None = None
    take_over: str | None = None
    claimer: User | None = field(default=None, init=False)

    def load(self, run: RunState, at: datetime) -> None:
        """Programs rule on purpose, and an agent waits for it: what was read before the
        lock is good enough for them. A screen has to name whom it takes over from."""
        super().load(run, at)
        unclaimed = self.review.assignee_id in (None, self.person.user_id)
        if self.take_over is not None or not unclaimed:
            self.claimer = get_other_claimer(self.review, self.person)

    def decide(self, run: RunState, at: datetime) -> Change[None]:
        review = self.open_review(run)
        if at >= review.due_at:
            return expire_review(run, review, at, self.follow_ups).refuse(
                ReviewExpired(
                    f"The review had to be ruled before {format_timestamp(review.due_at)}."
                )
            )
        if (self.version, self.content_digest) != (review.version, review.digest):
            raise StaleVersion(
                "The review changed since you read it. Read it again, then rule.",
                version=review.version,
                content_digest=review.digest,
            )
        self._check_action(review)
        if self.take_over is not None:
            refuse_unseen_claim(self.claimer, seen=self.take_over, to="rule anyway")
        plan = Plan(run, at)
        granted = self.approval.grant_at(at) if self.approval else None
        plan.add_entry(
            "review.ruled",
            actor=self.person.actor,
            payload={
                "review": review.code,
                "kind": review.kind,
                "action": self.action,
                "note": self.note,
                "answer": self.answer,
                "version": review.version,
                "content_digest": review.digest,
                **(granted.to_json() if granted else {}),
                **(self.choice.to_json() if self.choice else {}),
                **build_taken_from(self.claimer),
            },
        )
        end_review(plan, review, ReviewState.RULED)
        ruling = self._build_ruling(at)
        plan.rows.append(ruling)
        actor = self.person.actor
        call_closed_hook(plan, review, self.follow_ups, ending=self.action, actor=actor)
        if self.choice is not None:
            plan.side_updates.append(partial(self.choice.store, at))
        if granted is not None:
            plan.rows += granted.build_rows(self.review, person_id=self.person.user_id)
        if self.action == "abort":
            reason = self.note or "A reviewer aborted the run."
            close_run(plan, self.follow_ups, "run.aborted", actor=actor, reason=reason)
        plan.waiter_answer = self._build_waiter_answer(plan, review, ruling, granted)
        return plan.change()

    def _build_waiter_answer(
        self,
        plan: Plan,
        review: OpenReview,
        ruling: Ruling,
        granted: GrantedCall | None,
    ) -> WaiterAnswer:
        answer = build_decision_state(
            run=plan.run.code,
            status=plan.run.status,
            state=ReviewState.RULED.value,
            review={
                "id": review.code,
                "kind": review.kind,
                "version": review.version + 1,
            },
            ruling=build_ruling(
                ruling.code,
                ruling.action,
                ruling.note,
                ruling.answer,
                ruling.amended,
                self.person.username,
                ruling.at,
                UUID(granted.grant.code) if granted else None,
            ),
        )
        return WaiterAnswer(
            subject=review.code, body=answer, head_seq=plan.next_seq - 1
        )

    def _check_action(self, review: OpenReview) -> None:
        allowed = RULINGS[review.kind]
        if self.action not in allowed:
            raise Invalid(
                f"A review of kind {review.kind} takes {' or '.join(allowed)}.",
                errors=[{"loc": ["action"], "message": f"one of {list(allowed)}"}],
            )
        if self.action == "answer" and not (self.answer or "").strip():
            raise Invalid(
                "An answer needs its text.",
                errors=[{"loc": ["answer"], "message": "must not be empty"}],
            )
        if self.action != "answer" and self.answer is not None:
            raise Invalid(
                f"The action {self.action} takes no answer.",
                errors=[{"loc": ["answer"], "message": "only with action answer"}],
            )

    def _build_ruling(self, at: datetime) -> Ruling:
        return Ruling(
            review_id=self.review.pk,
            action=self.action,
            note=self.note,
            answer=self.answer,
            amended=self.approval.amended_text if self.approval else None,
            by_id=self.person.user_id,
            at=at,
        )


@dataclass(kw_only=True)
class ClaimReview(ReviewChangeRequest):
    """A claim tells the others who looks at it. It is no lock: anyone may rule, and
    anyone may take it over from its claimer."""

    take_over: str | None = None
    claimer: User | None = field(default=None, init=False)

    def load(self, run: RunState, at: datetime) -> None:
        self.claimer = get_other_claimer(self.review, self.person)

    def decide(self, run: RunState, at: datetime) -> Change[None]:
        review = self.open_review(run)
        if self.take_over is not None:
            refuse_unseen_claim(self.claimer, seen=self.take_over, to="take it over")
        plan = Plan(run, at)
        plan.add_entry(
            "review.claimed",
            actor=self.person.actor,
            payload={"review": review.code, **build_taken_from(self.claimer)},
        )
        plan.side_updates.append(
            self.build_update(assignee_id=self.person.user_id, claimed_at=at)
        )
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
        plan.side_updates.append(self.build_update(assignee_id=None, claimed_at=None))
        return plan.change()


@dataclass(kw_only=True)
class AddComment(ReviewChangeRequest):
    """A comment may be added while the review is open and after it was closed."""

    text: str

    def decide(self, run: RunState, at: datetime) -> Change[None]:
        plan = Plan(run, at)
        plan.add_entry(
            "review.commented",
            actor=self.person.actor,
            payload={"review": self.review_code, "text": self.text},
        )
        plan.rows.append(
            Comment(
                review_id=self.review.pk,
                author_id=self.person.user_id,
                text=self.text,
                at=at,
            )
        )
        return plan.change()
