"""An agent starts a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import partial

from accounts.auth import AgentPrincipal
from common.errors import Invalid
from common.responses import Reply
from gateway.schemas.runs import RunIn
from gateway.use_cases.limits.trees import build_lineage, find_parent
from gateway.use_cases.outcomes.finish import build_run_reply
from guidance.core.canonical import to_canonical_json
from guidance.core.policy.assignments import RunFacts
from guidance.core.runs.memory import Memory
from guidance.selectors import LoadedPolicy
from guidance.services import choose_policy
from ledger.idempotency import Idempotency
from ledger.models import OBSERVED, Run
from ledger.plan import Plan
from ledger.state import RunState, build_state
from ledger.writer import Change, NewRunRequest, get_writer
from ledger.writer.db_threads import run_in_db_thread
from reviews.caps import refuse_runs_at_cap
from reviews.errors import refuse_used_up
from reviews.rulings.budgets import merge_budget, refuse_above_ceiling


@dataclass(kw_only=True)
class StartRun(NewRunRequest[Reply]):
    obeys_halts = True
    shares = True

    agent: AgentPrincipal
    body: RunIn
    policy: LoadedPolicy
    observed: bool = False
    # Whether it goes on from its parent, which has ended, and is no child of it.
    follows: bool = False

    @property
    def project_id(self) -> int:
        return self.agent.project_id

    def create(self, at: datetime) -> RunState:
        refuse_runs_at_cap(
            project_id=self.agent.project_id, agent_id=self.agent.agent_id
        )
        body = self.body
        parent = find_parent(body.parent_run, project_id=self.project_id)
        lineage = ""
        if parent is not None and not (self.follows or self.observed):
            lineage = build_lineage(parent, limits=self.policy.policy.limits)
        budget = merge_budget(self.policy.policy.budget, body.budget)
        refuse_above_ceiling(budget, ceiling=self.policy.policy.budget_ceiling)
        run = Run.objects.create(
            code=self.run_code,
            project_id=self.agent.project_id,
            agent_id=self.agent.agent_id,
            policy_id=self.policy.id,
            parent=parent,
            lineage=lineage,
            task=body.task,
            intent=body.intent,
            model=body.model,
            labels=self.labels,
            status="running",
            tokens_limit=budget.tokens,
            tool_calls_limit=budget.tool_calls,
            time_ms_limit=budget.time_ms,
            cost_micros_limit=budget.cost_micros,
            memory=to_canonical_json({**Memory().to_json(), **self._observed}),
            created_at=at,
            updated_at=at,
        )
        return build_state(run)

    def decide(self, run: RunState, at: datetime) -> Change[Reply]:
        if not self.observed:  # it has begun already, and what it uses is counted
            refuse_used_up(self.shared, agent=self.agent.agent_name, at=at)
        plan = Plan(run, at)
        plan.add_entry(
            "run.started",
            actor=self.agent.actor,
            payload={
                "task": self.body.task,
                "intent": self.body.intent,
                "model": self.body.model,
                "labels": self.labels,
                "parent": self.body.parent_run,
                **({"child": True} if run.ancestors else {}),
                "policy": self.policy.build_stamp(),
                "budget": asdict(run.budget),
                **({"observed": True} if self.observed else {"timed": True}),
            },
        )
        return plan.change(partial(build_run_reply, run.id, status=201))

    @property
    def labels(self) -> dict[str, str]:
        mark = dict([OBSERVED]) if self.observed else {}
        return {**mark, **self.body.labels}

    @property
    def _observed(self) -> dict[str, bool]:
        return {"observed": True} if self.observed else {}


def choose_run_policy(
    agent: AgentPrincipal, body: RunIn, *, labels: Mapping[str, str] | None = None
) -> LoadedPolicy:
    """The policy that the project has for such a run, or the one that the agent wishes."""
    facts = RunFacts(
        agent=agent.agent_name,
        intent=body.intent,
        model=body.model,
        labels={**body.labels, **(labels or {})},
    )
    return choose_policy(project_id=agent.project_id, wish=body.policy, run=facts)


async def create_run(
    *, agent: AgentPrincipal, body: RunIn, idempotency: Idempotency | None = None
) -> Reply:
    name, value = OBSERVED
    if body.labels.get(name) == value:
        message = f"{value} is kept for runs that telemetry tells of"
        raise Invalid(
            f"labels.{name}: {message}.",
            errors=[{"loc": ["labels", name], "message": message}],
        )
    policy = await run_in_db_thread(partial(choose_run_policy, agent, body))
    return await get_writer().perform(
        StartRun(agent=agent, body=body, policy=policy, idempotency=idempotency)
    )
