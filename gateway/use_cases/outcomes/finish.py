"""A run finishes: it is judged by what the server saw of it and what its agent reports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial

from accounts.auth import AgentPrincipal
from common.responses import Reply, build_reply
from gateway.schemas.runs import FinishIn
from gateway.stored_outcomes import (
    build_outcome_figures,
    build_outcome_report,
    read_reported_violation,
)
from gateway.use_cases.access import get_first_open_review, require_own_run
from gateway.use_cases.outcomes.seen import load_seen
from gateway.use_cases.outcomes.violations import build_violation_rows
from guidance.core.canonical import to_canonical_json
from guidance.core.jcs import read_as_stored
from guidance.core.outcomes import (
    OUTCOME_VERSION,
    OutcomeFacts,
    Seen,
    judge_outcome,
)
from guidance.selectors import get_policy
from ledger.models import Run, RunOutcome
from ledger.plan import Plan
from ledger.serializers import RUN_RELATED, serialize_run
from ledger.state import RunState
from ledger.writer import Change, ChangeRequest, SealedEntry
from reviews.errors import ReviewOpen, refuse_closed
from reviews.models import ViolationSource
from reviews.plan import mark_regretted, revoke_grants
from reviews.selectors import get_model_cost_of_run


@dataclass(kw_only=True)
class FinishRun(ChangeRequest[Reply]):
    agent: AgentPrincipal
    body: FinishIn
    seen: Seen = field(init=False)
    asked_micros: int = field(default=0, init=False)

    def load(self, run: RunState, at: datetime) -> None:
        require_own_run(run, self.agent)
        self.seen = load_seen(run, get_policy(run.policy_id).policy.evaluators)
        self.asked_micros = get_model_cost_of_run(run.id).cost_micros

    def decide(self, run: RunState, at: datetime) -> Change[Reply]:
        require_own_run(run, self.agent)
        refuse_closed(run)
        if run.open_reviews:
            raise ReviewOpen(
                "A person is asked about this run: wait for the ruling, then finish.",
                review=get_first_open_review(run, project_slug=self.agent.project_slug),
            )
        plan = Plan(run, at)
        finish(
            plan,
            self.body,
            actor=self.agent.actor,
            seen=self.seen,
            asked_micros=self.asked_micros,
        )
        revoke_grants(plan)
        return plan.change(partial(build_run_reply, run.id))


def finish(
    plan: Plan, body: FinishIn, *, actor: str, seen: Seen, asked_micros: int = 0
) -> None:
    """The run's last entry, with all that its judgement rests on, and whose word its cost
    is: the agent's, but for what the server itself asked of models."""
    policy = get_policy(plan.run.policy_id)
    told = {**body.model_dump(mode="json"), "said": sorted(body.model_fields_set)}
    facts = OutcomeFacts(seen=seen, report=build_outcome_report(told))
    ending = judge_outcome(policy.policy.evaluators, facts)
    payload = {
        **told,
        "seen": seen.to_json(),
        "evaluations": [each.to_json() for each in ending.evaluations],
        "accepted": ending.accepted,
        "status": "failed" if ending.reason else body.outcome,
        "reason": ending.reason or body.summary,
        "cost": {
            "reported_micros": plan.run.used.cost_micros - asked_micros,
            "asked_micros": asked_micros,
        },
        "policy": policy.build_stamp(),
        "engine": OUTCOME_VERSION,
    }
    seq = plan.next_seq
    plan.add_entry("run.finished", actor=actor, payload=payload)
    plan.rows.append(
        RunOutcome(
            run_id=plan.run.id,
            project_id=plan.run.project_id,
            at=plan.at,
            accepted=ending.accepted,
            evaluations=to_canonical_json(read_as_stored(payload["evaluations"])),
            **build_outcome_figures(payload),
        )
    )
    plan.rows += build_violation_rows(
        plan,
        map(read_reported_violation, told["violations"]),
        source=ViolationSource.AGENT,
        seq=seq,
    )
    if payload["status"] == "failed" or ending.accepted is False:
        mark_regretted(plan)
    plan.wakes_waiters = True


def build_run_reply(
    run_id: int, _entries: Sequence[SealedEntry], *, status: int = 200
) -> Reply:
    """The run as it stands in this very transaction."""
    run = Run.objects.select_related(*RUN_RELATED).get(pk=run_id)
    return build_reply(serialize_run(run), status=status)
