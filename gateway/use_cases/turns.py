"""The agent tells how a turn ended; the server says whether it is done."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from functools import partial
from typing import Any

from accounts.auth import AgentPrincipal
from common.long_work import run_long
from common.responses import Reply, build_reply
from gateway.schemas.checks import TurnIn
from gateway.use_cases.access import (
    get_policy_of_run,
    refuse_unless_running,
    require_own_run,
)
from gateway.use_cases.review_links import build_review_reference
from guidance.core.policy.caps import ReviewRoom
from guidance.core.turns.facts import TurnFacts
from guidance.core.turns.judge_turn import TURN_VERSION, TurnVerdict, judge_turn
from guidance.core.turns.memory import TurnMemory
from guidance.core.turns.section import TurnRules
from guidance.selectors import LoadedPolicy
from ledger.idempotency import Idempotency
from ledger.models import Run
from ledger.plan import Plan
from ledger.state import RunState, build_state
from ledger.writer import Change, ChangeRequest, SealedEntry, get_writer
from ledger.writer.db_threads import run_in_db_thread
from reviews.caps import find_review_room, refuse_reviews_at_cap
from reviews.plan import find_severity, open_review

TURN_GATE = "system:turn-gate"


@dataclass(kw_only=True)
class JudgeTurn(ChangeRequest[Reply]):
    locked = False

    agent: AgentPrincipal
    policy: LoadedPolicy
    rules: TurnRules
    body: TurnIn
    foreseen: tuple[TurnFacts, TurnVerdict]
    room: ReviewRoom = field(default=ReviewRoom(), init=False)

    def load(self, run: RunState, at: datetime) -> None:
        if self.needs_lock:
            self.room = find_review_room(
                project_id=run.project_id, agent_id=run.agent_id
            )

    def decide(self, run: RunState, at: datetime) -> Change[Reply]:
        require_own_run(run, self.agent)
        refuse_unless_running(run, self.agent)
        facts, verdict = self.foreseen
        if facts != (now := build_facts(self.body, run.turns)):
            facts, verdict = now, judge_turn(self.rules, now)
        if verdict.action == "needs_human":
            self.require_lock()
            severity = find_severity(run, kind="question", content={})
            refuse_reviews_at_cap(self.room.find_reached(severity))
        plan = Plan(run, at)
        payload: dict[str, Any] = {
            "facts": asdict(facts),
            "tools": self.body.tool_signature,
            "verdict": verdict.to_json(),
            "max_retries": self.rules.max_retries,
            "review": None,
            "policy": self.policy.build_stamp(),
            "engine": TURN_VERSION,
        }
        plan.add_entry("turn.judged", actor=self.agent.actor, payload=payload)
        payload["retries_used"] = plan.run.turns.retries
        if verdict.action == "needs_human":
            payload["review"] = self._put_before_a_person(plan, verdict)
        return plan.change(self._answer)

    def _put_before_a_person(self, plan: Plan, verdict: TurnVerdict) -> dict[str, str]:
        code = open_review(
            plan,
            kind="question",
            title=verdict.question or verdict.reason,
            content={
                "kind": "question",
                "title": verdict.question or verdict.reason,
                "detail": self.body.content,
                "options": [],
                "reason": verdict.reason,
            },
            actor=TURN_GATE,
            step=plan.run.memory.last_step or None,
        )
        return {"id": code, "kind": "question"}

    def _answer(self, entries: Sequence[SealedEntry]) -> Reply:
        payload = json.loads(entries[0].payload)
        verdict = payload["verdict"]
        review = build_review_reference(
            payload["review"], project_slug=self.agent.project_slug
        )
        return build_reply(
            {
                "run": self.run_code,
                **{name: verdict[name] for name in ("action", "score", "signals")},
                "retries_used": payload["retries_used"],
                "max_retries": payload["max_retries"],
                "nudge": verdict["nudge"],
                "reason": verdict["reason"],
                "review": review,
                "policy": payload["policy"],
                "receipt": entries[0].build_receipt(),
            },
            status=201,
        )


def build_facts(body: TurnIn, turns: TurnMemory) -> TurnFacts:
    return TurnFacts(
        **body.model_dump(exclude={"tool_signature"}),
        recent_tool_ratio=turns.tool_ratio,
        retries_used=turns.retries,
        reminded_todos=turns.reminded_todos,
    )


async def submit_turn(
    *,
    agent: AgentPrincipal,
    run_code: str,
    body: TurnIn,
    idempotency: Idempotency | None = None,
) -> Reply:
    """Judged before the writer: a long text must not hold up others.

    Should the run move in between, the writer judges the turn again.
    """
    policy = await run_in_db_thread(partial(get_policy_of_run, agent, run_code))
    run = await run_in_db_thread(partial(Run.objects.get, code=run_code))
    rules = policy.policy.turns.get_for_model(run.model)
    facts = build_facts(body, build_state(run).turns)
    verdict = await run_long(judge_turn, rules, facts)
    return await get_writer().perform(
        JudgeTurn(
            agent=agent,
            run_code=run_code,
            policy=policy,
            rules=rules,
            body=body,
            foreseen=(facts, verdict),
            idempotency=idempotency,
        )
    )
