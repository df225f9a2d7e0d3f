"""Judging without a run: the same gates, nothing stored."""

from __future__ import annotations

from functools import partial

from accounts.auth import AgentPrincipal, Principal
from accounts.selectors import list_projects
from common.errors import Forbidden, Invalid
from common.long_work import run_long
from common.responses import Reply, build_reply
from gateway.schemas.calls import EvaluateIn, EvaluateMultiEditIn
from gateway.schemas.checks import EvaluateTurnIn, EvaluateVerdictIn
from gateway.schemas.runs import ContinueIn
from gateway.use_cases.checks.verdicts import require_valid_verdict
from gateway.use_cases.tool_calls import judge_in_project
from guidance.core.checks import read_verdict_text
from guidance.core.runs.facts import FactError
from guidance.core.runs.usage import Remaining
from guidance.core.steps.stateless import ContinueFacts, judge_continue
from guidance.core.turns.facts import TurnFacts
from guidance.core.turns.judge_turn import judge_turn
from guidance.selectors import LoadedPolicy
from guidance.services import get_policy_in_force
from ledger.writer.db_threads import run_in_db_thread


async def evaluate_continue_body(*, principal: Principal, body: ContinueIn) -> Reply:
    policy = await run_in_db_thread(partial(_get_policy, principal, body.policy))
    left = body.budget_remaining
    facts = ContinueFacts(
        step_number=body.step_number,
        total_tokens_used=body.total_tokens_used,
        total_tool_calls=body.total_tool_calls,
        rework_count=body.rework_count,
        coherence_score=body.coherence_score,
        uncertainty_score=body.uncertainty_score,
        budget_remaining=Remaining(
            tokens=left.tokens, tool_calls=left.tool_calls, time_ms=left.time_ms
        ),
        last_checkpoint_step=body.last_checkpoint_step,
        recent_step_tokens=tuple(body.recent_step_tokens),
    )
    try:
        verdict = judge_continue(policy=policy.policy, facts=facts)
    except FactError as error:
        raise Invalid(
            f"{error.field}: {error}.",
            errors=[{"loc": [error.field], "message": str(error)}],
        ) from None
    return build_reply({**verdict.to_json(), "policy": policy.build_stamp()})


async def evaluate_call_body(*, principal: Principal, body: EvaluateIn) -> Reply:
    """The gates of a call that need no run."""
    project_id = await run_in_db_thread(partial(_get_project_id, principal))
    policy = await run_in_db_thread(
        partial(get_policy_in_force, project_id=project_id, name=body.policy)
    )
    verdict = await judge_in_project(body.build_call(), policy, project_id=project_id)
    answer = {**verdict.to_json(), "policy": policy.build_stamp()}
    if isinstance(body, EvaluateMultiEditIn):
        answer["preview"] = verdict.preview
    return build_reply(answer)


async def evaluate_turn_body(*, principal: Principal, body: EvaluateTurnIn) -> Reply:
    """A turn as if it were the first stop of its run."""
    policy = await run_in_db_thread(partial(_get_policy, principal, body.policy))
    facts = TurnFacts(**body.model_dump(exclude={"policy", "model"}))
    rules = policy.policy.turns.get_for_model(body.model)
    verdict = await run_long(judge_turn, rules, facts)
    return build_reply({**verdict.to_json(), "policy": policy.build_stamp()})


async def evaluate_verdict_body(*, body: EvaluateVerdictIn) -> Reply:
    """A text as a verdict on any number of gates."""
    read_as = await run_long(read_verdict_text, body.text, gates=None, bare=True)
    return build_reply(require_valid_verdict(read_as).to_json())


def _get_policy(principal: Principal, name: str) -> LoadedPolicy:
    return get_policy_in_force(project_id=_get_project_id(principal), name=name)


def _get_project_id(principal: Principal) -> int:
    if isinstance(principal, AgentPrincipal):
        return principal.project_id
    project = list_projects(user_id=principal.user_id).first()
    if project is None:
        raise Forbidden("You are not a member of any project yet.")
    return project.pk
