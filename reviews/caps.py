"""The caps of a project, compared with what is open in it.

That there is room is only true while the project is locked (`ChangeRequest.require_lock`): then
nobody opens anything between the count and the commit, in whichever process. That there
is none may be believed at any time, because it lets nothing through.
"""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet

from accounts.models import SYSTEM_AGENTS, Agent
from common.errors import RateLimited
from guidance.core.policy.caps import Cap, CapReached, ReviewRoom
from guidance.core.review_limit import OPEN_REVIEWS
from guidance.services import get_caps_in_force
from ledger.models import Run, RunStatus
from reviews.models import Review, ReviewState

OPEN_RUN = (RunStatus.RUNNING, RunStatus.PAUSED)
# People have to close something first: there is no use in asking sooner.
RETRY_AFTER_S = 30


def get_reached_cap(
    cap: Cap, *, agent: QuerySet[Any], project: QuerySet[Any], project_id: int
) -> CapReached | None:
    return cap.find_reached(
        **_count_open(cap, agent=agent, project=project, project_id=project_id)
    )


def _count_open(
    cap: Cap,
    *,
    agent: QuerySet[Any],
    project: QuerySet[Any],
    project_id: int,
    kept: int = 0,
) -> dict[str, int]:
    """No more rows are counted than the cap allows, and the project's agents only where
    it matters how many there are."""
    mine = 0 if cap.agent is None else agent[: cap.agent].count()
    if cap.project is None:
        return {"agent": mine, "project": 0, "agents": 0}
    agents, limit = 0, cap.project
    count = project[:limit].count()
    if cap.project_per_agent and count >= limit - kept:
        agents = count_agents(project_id)
        limit = cap.get_project_limit(agents) or limit
        count = project[:limit].count() if limit > cap.project else count
    return {"agent": mine, "project": count, "agents": agents}


def count_agents(project_id: int) -> int:
    """The fleet that the caps of a project grow with."""
    agents = Agent.objects.filter(project_id=project_id, disabled_at=None)
    return agents.exclude(name__in=SYSTEM_AGENTS).count()


def refuse_at_cap(reached: CapReached | None, *, what: str, instead: str) -> None:
    if reached is not None:
        raise RateLimited(
            f"{reached.describe(what)}. {instead}", retry_after=RETRY_AFTER_S
        )


def find_review_room(*, project_id: int, agent_id: int) -> ReviewRoom:
    """The caps that keep one more review of this agent from being opened."""
    waiting = Review.objects.filter(state=ReviewState.OPEN)
    cap = get_caps_in_force(project_id=project_id).open_reviews
    counted = _count_open(
        cap,
        agent=waiting.filter(run__agent_id=agent_id, run__status=RunStatus.PAUSED),
        project=waiting.filter(project_id=project_id),
        project_id=project_id,
        kept=cap.count_kept(cap.project or 0),
    )
    return cap.find_room(**counted)


def refuse_reviews_at_cap(reached: CapReached | None) -> None:
    """For what an agent asks of its own accord: it may ask again later."""
    refuse_at_cap(
        reached,
        what=OPEN_REVIEWS,
        instead="Wait until people have closed some of them, then ask again.",
    )


def refuse_runs_at_cap(*, project_id: int, agent_id: int) -> None:
    running = Run.objects.filter(status__in=OPEN_RUN).exclude(intent__in=SYSTEM_AGENTS)
    refuse_at_cap(
        get_reached_cap(
            get_caps_in_force(project_id=project_id).open_runs,
            agent=running.filter(agent_id=agent_id),
            project=running.filter(project_id=project_id),
            project_id=project_id,
        ),
        what="runs that are running or paused",
        instead="Finish some of them, or have them aborted, then start the next one.",
    )
