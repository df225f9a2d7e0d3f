"""An agent asks once for a plan, instead of once for each of its calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any

from accounts.auth import AgentPrincipal
from common.ids import uuid7
from common.long_work import run_long
from common.responses import Reply
from gateway.use_cases.access import (
    get_cached_policy,
    get_policy_of_run,
    refuse_unless_running,
    require_own_run,
)
from gateway.use_cases.asking.questions import reply_with_review
from guidance.core.canonical import hash_text, to_canonical_json
from guidance.core.plans.judging import count_asking
from guidance.core.policy.caps import ReviewRoom
from guidance.selectors import LoadedPolicy
from ledger.idempotency import Idempotency
from ledger.plan import Plan
from ledger.state import RunState
from ledger.writer import Change, ChangeRequest, SealedEntry, get_writer
from ledger.writer.db_threads import run_in_db_thread
from reviews.agent_plans.approving import judge_proposal
from reviews.caps import find_review_room, refuse_reviews_at_cap
from reviews.errors import PolicyMoved
from reviews.models import Kind
from reviews.plan import find_severity, open_review
from reviews.schemas.plans import PlanIn


@dataclass(kw_only=True)
class SubmitPlan(ChangeRequest[Reply]):
    """`content` is the plan as the gates judged it by `policy`."""

    obeys_halts = True

    agent: AgentPrincipal
    policy: LoadedPolicy
    content: dict[str, Any]
    room: ReviewRoom = field(default=ReviewRoom(), init=False)
    review_code: str = field(default="", init=False)

    def load(self, run: RunState, at: datetime) -> None:
        self.room = find_review_room(project_id=run.project_id, agent_id=run.agent_id)

    def decide(self, run: RunState, at: datetime) -> Change[Reply]:
        require_own_run(run, self.agent)
        refuse_unless_running(run, self.agent)
        if run.policy_id != self.policy.id:
            raise PolicyMoved("The run goes on under another version of its policy.")
        severity = find_severity(run, kind=Kind.PLAN, content=self.content)
        refuse_reviews_at_cap(self.room.find_reached(severity))
        plan, content = Plan(run, at), self.content
        self.review_code = open_review(
            plan,
            kind=Kind.PLAN,
            title=content["title"],
            content=content,
            actor=self.agent.actor,
            step=run.memory.last_step or None,
        )
        plan.add_entry(
            "plan.submitted",
            actor=self.agent.actor,
            payload={
                "plan": content["plan"],
                "review": self.review_code,
                "title": content["title"],
                "steps": len(content["steps"]),
                "calls": sum(len(step["calls"]) for step in content["steps"]),
                "asking": count_asking(content),
                "content_digest": hash_text(to_canonical_json(content)),
            },
        )
        return plan.change(self._answer)

    def _answer(self, _entries: Sequence[SealedEntry]) -> Reply:
        return reply_with_review(self.review_code, status=201)


async def submit_plan(
    *,
    agent: AgentPrincipal,
    run_code: str,
    body: PlanIn,
    idempotency: Idempotency | None = None,
) -> Reply:
    """Judged outside of the writer: many calls hold nobody up."""
    proposal = body.build_proposal()
    policy = get_cached_policy(agent, run_code)
    while True:
        if policy is None:
            policy = await run_in_db_thread(partial(get_policy_of_run, agent, run_code))
        judge = partial(
            judge_proposal, proposal, code=str(uuid7()), policy=policy.policy
        )
        content = await run_long(judge)
        try:
            return await get_writer().perform(
                SubmitPlan(
                    agent=agent,
                    run_code=run_code,
                    policy=policy,
                    content=content,
                    idempotency=idempotency,
                )
            )
        except PolicyMoved:
            policy = None
