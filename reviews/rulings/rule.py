"""What a person does to an open review, and the most of it: to rule on it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

from accounts.auth import PersonPrincipal
from accounts.models import User
from common.errors import Invalid, StaleVersion
from guidance.core.canonical import to_canonical_json
from guidance.core.jcs import read_as_stored
from guidance.core.reviews.four_eyes import APPROVING
from ledger.chain import format_timestamp
from ledger.plan import Plan, WaiterAnswer
from ledger.state import OpenReview, RunState
from ledger.writer import Change, ChangeRequest
from reviews.agent_plans.approving import PlanApproval, to_amended_text
from reviews.allowances.giving import NewAllowance
from reviews.errors import ReviewExpired, ReviewNotOpen, RulingNotHeld
from reviews.models import (
    RULINGS,
    HeldRuling,
    Review,
    ReviewApproval,
    ReviewState,
)
from reviews.plan import (
    ClosingRequest,
    call_closed_hook,
    close_run,
    end_review,
    has_follow_ups,
)
from reviews.queue.subjects import Subject, find_subject, measure_ms
from reviews.rulings.approvals import Approval, GrantedCall
from reviews.rulings.expiry import expire_review
from reviews.rulings.four_eyes import count_with, find_owner, list_approval_notes
from reviews.rulings.gate_choices import Choice
from reviews.rulings.notice import build_decision_state
from reviews.rulings.ruling_rows import NewRuling
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
    that ran out of attempts, `planned` a plan that may be followed, `allowance` what the run
    need not ask again, `take_over` whose claim a form of the console has named. It is
    `folded` where one action ruled on several that are alike, and another came first.

    Where a review takes several approvals, one that is not the last is only kept: then
    `approvals_given` says how many there are, after it was performed.
    """

    action: str
    version: int
    content_digest: str
    note: str
    answer: str | None
    approval: Approval | None = None
    planned: PlanApproval | None = None
    choice: Choice | None = None
    allowance: NewAllowance | None = None
    take_over: str | None = None
    folded: bool = False
    claimer: User | None = field(default=None, init=False)
    # Since when its person has had the review on a screen. `unopened`: on no screen by
    # itself, but among others that were ruled with it.
    shown_at: datetime | None = None
    unopened: bool = False
    # The row of a ruling that was held; it has to be there still.
    held_id: int | None = None
    held_at: datetime | None = field(default=None, init=False)
    subject: Subject = field(init=False)
    owner: str | None = field(default=None, init=False)
    # What those wrote who approved or changed it before, with their names.
    earlier_notes: list[tuple[str, str]] = field(default_factory=list, init=False)
    approvals_given: int | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        # Here, as a long content is not read while others wait for the project.
        content = json.loads(self.review.content)
        self.subject = find_subject(self.review.kind, content)

    def load(self, run: RunState, at: datetime) -> None:
        """Programs rule on purpose, and an agent waits for it: what was read before the
        lock is good enough for them. A screen has to name whom it takes over from."""
        super().load(run, at)
        unclaimed = self.review.assignee_id in (None, self.person.user_id)
        if self.take_over is not None or not unclaimed:
            self.claimer = get_other_claimer(self.review, self.person, at=at)
        if self.held_id is not None:
            held = HeldRuling.objects.filter(pk=self.held_id)
            self.held_at = held.values_list("held_at", flat=True).first()
        if self.review.approvals_needed > 1:
            self.owner = find_owner(run.agent_id)
            self.earlier_notes = list_approval_notes(self.review)

    def rests_on_run_alone(self, run: RunState) -> bool:
        unclaimed = self.review.assignee_id in (None, self.person.user_id)
        one_decides = self.review.approvals_needed == 1
        plain = self.take_over is None and self.held_id is None
        return unclaimed and one_decides and plain and not has_follow_ups(run)

    def decide(self, run: RunState, at: datetime) -> Change[None]:
        self.approvals_given = None
        review = self.open_review(run)
        if self.is_past(review.due_at, at):
            return expire_review(run, review, at, self.follow_ups).refuse(
                ReviewExpired(
                    f"The review had to be ruled before {format_timestamp(review.due_at)}."
                )
            )
        self.refuse_unfit(review, at)
        plan = Plan(run, at)
        if self.held_id is not None:
            plan.side_updates.append(HeldRuling.objects.filter(pk=self.held_id).delete)
        several = review.approvals_needed > 1 and self.action in APPROVING
        if several:
            given = count_with(
                review, action=self.action, by=self.person.actor, owner=self.owner
            )
            if given < review.approvals_needed:
                return self._keep_approval(plan, review, given)
            plan.side_updates.append(self.build_update(approvals_given=given))
        granted = self.approval.grant_at(at) if self.approval else None
        note = self._join_notes() if several else self.note
        plan.add_entry(
            "review.ruled",
            actor=self.person.actor,
            payload={
                "review": review.code,
                "kind": review.kind,
                "action": self.ruled_action,
                "note": note,
                "answer": self.answer,
                "version": review.version,
                "content_digest": review.digest,
                "waited_ms": measure_ms(self.review.opened_at, at),
                "read_ms": self._measure_read_ms(at),
                **(self._name_people(review) if several else {}),
                **(granted.to_json() if granted else {}),
                **({"amended": self.planned.amended} if self.planned else {}),
                **(self.choice.to_json() if self.choice else {}),
                **build_taken_from(self.claimer),
                **({"folded": True} if self.folded else {}),
            },
        )
        end_review(plan, review, ReviewState.RULED)
        ruling = self._build_ruling(at, note=note)
        plan.rows += [ruling.build_row(), ruling.build_fact_row(plan.run, self.subject)]
        actor = self.person.actor
        call_closed_hook(plan, review, self.follow_ups, ending=self.action, actor=actor)
        if self.planned is not None:
            self.planned.give(plan, review=review.code, actor=actor)
        if self.allowance is not None:
            self.allowance.give(plan, review=review.code, actor=actor, note=self.note)
        if self.choice is not None:
            plan.side_updates.append(partial(self.choice.store, at))
        if granted is not None:
            plan.rows += granted.build_rows(self.review, person_id=self.person.user_id)
        if self.action == "abort":
            reason = self.note or "A reviewer aborted the run."
            close_run(
                plan,
                self.follow_ups,
                "run.aborted",
                actor=actor,
                reason=reason,
                cause="ruling",
            )
        plan.waiter_answer = self._build_waiter_answer(plan, review, ruling, granted)
        return plan.change()

    def _measure_read_ms(self, at: datetime) -> int | None:
        """Until it was ruled, not until a ruling that was held was sent."""
        if self.person.token_id is not None:
            return None
        if self.shown_at is not None:
            return measure_ms(self.shown_at, self.held_at or at)
        return 0 if self.unopened else None

    def refuse_unfit(self, review: OpenReview, at: datetime) -> None:
        """Whatever keeps this ruling from being taken now."""
        if self.is_past(review.due_at, at):
            raise ReviewExpired(
                f"The review had to be ruled before {format_timestamp(review.due_at)}."
            )
        if self.held_id is not None and self.held_at is None:
            raise RulingNotHeld("It was taken back, sent already or dropped.")
        if (self.version, self.content_digest) != (review.version, review.digest):
            raise StaleVersion(
                "The review changed since you read it. Read it again, then rule.",
                version=review.version,
                content_digest=review.digest,
            )
        self._check_action(review)
        if self.take_over is not None:
            refuse_unseen_claim(self.claimer, seen=self.take_over, to="rule anyway")
        if review.approvals_needed > 1 and self.action in APPROVING:
            count_with(
                review, action=self.action, by=self.person.actor, owner=self.owner
            )

    @property
    def ruled_action(self) -> str:
        """Who approves what another has changed lets the changed call run."""
        return "amend" if self._amended is not None else self.action

    @property
    def _amended(self) -> dict[str, Any] | None:
        """The call or the plan as somebody has changed it."""
        if self.planned is not None:
            return self.planned.amended
        return self.approval.amended if self.approval else None

    @property
    def _amended_text(self) -> str | None:
        if self.planned is not None:
            return to_amended_text(self.planned)
        return self.approval.amended_text if self.approval else None

    def _name_people(self, review: OpenReview) -> dict[str, list[str]]:
        """All who have approved, the last one last, and who has changed it."""
        given = [each for each in review.approved_by if each != self.owner]
        changed = {"amended_by": [*review.amended_by]} if review.amended_by else {}
        return {"approved_by": [*given, self.person.actor], **changed}

    def _keep_approval(
        self, plan: Plan, review: OpenReview, given: int
    ) -> Change[None]:
        """Not the last one: everybody sees it, the agent hears nothing, nothing may run."""
        self.approvals_given = given
        amends = self.action == "amend" and self._amended is not None
        changed: dict[str, Any] = {}
        if amends:
            found = self.approval.findings if self.approval else ()
            findings = [each.to_json() for each in found]
            changed = {"amended": self._amended, "amended_findings": findings}
        allowed = self.allowance.choice.to_json() if self.allowance else None
        plan.add_entry(
            "review.amended" if amends else "review.approved",
            actor=self.person.actor,
            payload={
                "review": review.code,
                "kind": review.kind,
                "action": self.action,
                "by": self.person.actor,
                "note": self.note,
                "version": review.version,
                "content_digest": review.digest,
                "given": given,
                "needed": review.approvals_needed,
                **changed,
                **({"allowance": allowed} if allowed else {}),
            },
        )
        plan.rows.append(
            ReviewApproval(
                review_id=self.review.pk,
                by_id=self.person.user_id,
                at=plan.at,
                version=review.version,
                action=self.action,
                note=self.note,
                amended=self._amended_text if amends else None,
                findings=to_canonical_json(
                    read_as_stored(changed.get("amended_findings", []))
                ),
                allowance=to_canonical_json(read_as_stored(allowed))
                if allowed
                else None,
            )
        )
        plan.side_updates.append(
            self.build_update(version=review.version + 1, approvals_given=given)
        )
        return plan.change()

    def _build_waiter_answer(
        self,
        plan: Plan,
        review: OpenReview,
        ruling: NewRuling,
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
            subject=review.code,
            body=answer,
            head_seq=plan.next_seq - 1,
            has_notes=bool(plan.run.notes),
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

    def _join_notes(self) -> str:
        """The agent hears of one ruling: it has what each of them wrote."""
        if not self.earlier_notes:
            return self.note
        own = [(self.person.username, self.note)] if self.note else []
        return "\n".join(f"{by}: {said}" for by, said in [*self.earlier_notes, *own])

    def _build_ruling(self, at: datetime, *, note: str) -> NewRuling:
        return NewRuling(
            review=self.review,
            action=self.ruled_action,
            note=note,
            answer=self.answer,
            amended=self._amended_text,
            by_id=self.person.user_id,
            at=at,
            read_ms=self._measure_read_ms(at),
        )
