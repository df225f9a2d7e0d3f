"""Which run is this agent's to move, and in which state it may be moved."""

from __future__ import annotations

from collections import OrderedDict

from accounts.auth import AgentPrincipal
from common.errors import Forbidden, NotFound
from common.ids import parse_code
from guidance.selectors import LoadedPolicy, get_policy
from ledger.models import Run
from ledger.serializers import build_review_url
from ledger.state import RunState
from reviews.errors import RunPaused, build_review_reference, refuse_closed


def require_own_run(run: RunState, agent: AgentPrincipal) -> None:
    """Another agent's run is answered exactly like an absent one."""
    if run.agent_id != agent.agent_id:
        raise NotFound
    if run.observed:
        raise Forbidden(
            "This run is only observed: telemetry tells of it, and nothing is decided. "
            "Start a run of your own to be gated."
        )


# (agent, run) to policy. A run may be moved to another one: whoever decides compares.
_POLICIES: OrderedDict[tuple[int, str], int] = OrderedDict()
_CACHE_LIMIT = 10_000


def get_cached_policy(agent: AgentPrincipal, run_code: str) -> LoadedPolicy | None:
    """Without a query, where the run was seen before."""
    policy_id = _POLICIES.get((agent.agent_id, run_code))
    return None if policy_id is None else get_policy(policy_id)


def get_policy_of_run(agent: AgentPrincipal, run_code: str) -> LoadedPolicy:
    """The policy that this agent's run is judged by now."""
    known = parse_code(run_code)
    if known is None:
        raise NotFound
    runs = Run.objects.filter(code=known, agent_id=agent.agent_id)
    policy_id = runs.values_list("policy_id", flat=True).first()
    if policy_id is None:
        raise NotFound
    # Loaded first: whoever finds it named here takes it without a query.
    policy = get_policy(policy_id)
    _POLICIES[agent.agent_id, run_code] = policy_id
    if len(_POLICIES) > _CACHE_LIMIT:
        _POLICIES.popitem(last=False)
    return policy


def refuse_unless_running(run: RunState, agent: AgentPrincipal) -> None:
    refuse_closed(run)
    if run.status == "paused":
        raise RunPaused(
            "Wait for the ruling: GET /runs/{run}/decision?wait=25.",
            review=get_first_open_review(run, project_slug=agent.project_slug),
        )


def refuse_unless_calling(run: RunState, agent: AgentPrincipal) -> None:
    """Calls go on beside calls that wait for a confirmation, and beside nothing else.

    Agents make several calls at once; but a run that was paused as a whole does nothing.
    """
    waiting = [item for item in run.open_reviews if item.kind != "confirmation"]
    if waiting or run.status != "paused":
        refuse_unless_running(run, agent)


def get_first_open_review(run: RunState, *, project_slug: str) -> dict[str, str] | None:
    if not run.open_reviews:
        return None
    review = run.open_reviews[0]
    return build_review_reference(
        code=review.code,
        kind=review.kind,
        url=build_review_url(project_slug=project_slug, review=review.code),
    )
