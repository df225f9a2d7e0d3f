"""The agent asks a person in its own words, and may take the question back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from accounts.auth import AgentPrincipal
from common.errors import Forbidden, NotFound
from common.ids import parse_code
from common.responses import Reply, build_reply
from gateway.schemas.runs import ReviewIn
from gateway.use_cases.access import refuse_unless_running, require_own_run
from guidance.core.policy.caps import ReviewRoom
from ledger.chain import format_timestamp
from ledger.idempotency import Idempotency
from ledger.plan import Plan
from ledger.state import RunState
from ledger.writer import Change, ChangeRequest, SealedEntry, get_writer
from ledger.writer.db_threads import run_in_db_thread
from reviews.caps import find_review_room, refuse_reviews_at_cap
from reviews.errors import AlreadyRuled, ReviewExpired, ReviewNotOpen
from reviews.models import Kind, Review, ReviewState
from reviews.plan import ClosingRequest, end_review, find_severity, open_review
from reviews.rulings.expiry import expire_review
from reviews.selectors import REVIEW_RELATED
from reviews.serializers import build_review_answer


@dataclass(kw_only=True)
class AskPerson(ChangeRequest[Reply]):
    obeys_halts = True
    agent: AgentPrincipal
    body: ReviewIn
    room: ReviewRoom = field(default=ReviewRoom(), init=False)

    def load(self, run: RunState, at: datetime) -> None:
        self.room = find_review_room(project_id=run.project_id, agent_id=run.agent_id)

    def decide(self, run: RunState, at: datetime) -> Change[Reply]:
        require_own_run(run, self.agent)
        refuse_unless_running(run, self.agent)
        # As the policy sees it: no agent fills what is kept for critical reviews.
        severity = find_severity(run, kind=self.body.kind, content={})
        refuse_reviews_at_cap(self.room.find_reached(severity))
        plan = Plan(run, at)
        code = open_review(
            plan,
            kind=self.body.kind,
            title=self.body.title,
            content=self.body.model_dump(mode="json", exclude={"severity"}),
            actor=self.agent.actor,
            step=run.memory.last_step or None,
            asked_severity=self.body.severity,
        )
        return plan.change(lambda _entries: reply_with_review(code, status=201))


@dataclass(kw_only=True)
class WithdrawReview(ClosingRequest[Reply]):
    agent: AgentPrincipal
    review_code: str

    def decide(self, run: RunState, at: datetime) -> Change[Reply]:
        require_own_run(run, self.agent)
        review = run.open_review(self.review_code)
        if review is None:
            raise ReviewNotOpen("The review is closed.")
        if review.kind not in {Kind.REQUEST, Kind.QUESTION, Kind.PLAN}:
            raise Forbidden("A gate opened this review: only a person can end it.")
        if self.is_past(review.due_at, at):
            return expire_review(run, review, at, self.follow_ups).refuse(
                ReviewExpired(
                    f"The review ended at {format_timestamp(review.due_at)}: "
                    f"the outcome is {review.on_expiry}."
                )
            )
        plan = Plan(run, at)
        plan.add_entry(
            "review.withdrawn",
            actor=self.agent.actor,
            payload={"review": review.code},
        )
        end_review(plan, review, ReviewState.WITHDRAWN)
        return plan.change(self._answer)

    def _answer(self, _entries: Sequence[SealedEntry]) -> Reply:
        return reply_with_review(self.review_code, status=200)


def reply_with_review(code: str, *, status: int) -> Reply:
    """The review as it stands in this very transaction."""
    return build_reply(build_review_answer(_get_review(code)), status=status)


def _get_review(code: str) -> Review:
    return Review.objects.select_related(*REVIEW_RELATED).get(code=code)


async def withdraw_own_review(
    *,
    agent: AgentPrincipal,
    review_code: str,
    idempotency: Idempotency | None = None,
) -> Reply:
    def run_of_review() -> str:
        known = parse_code(review_code)
        review = (
            Review.objects.filter(code=known, run__agent_id=agent.agent_id)
            .values("run__code")
            .first()
            if known
            else None
        )
        if review is None:
            raise NotFound
        return str(review["run__code"])

    run_code = await run_in_db_thread(run_of_review)
    try:
        return await get_writer().perform(
            WithdrawReview(
                agent=agent,
                run_code=run_code,
                review_code=review_code,
                idempotency=idempotency,
            )
        )
    except ReviewNotOpen:
        state = (await run_in_db_thread(lambda: _get_review(review_code))).state
        raise AlreadyRuled(f"The review is {state} already.", state=state) from None
