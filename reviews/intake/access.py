"""Which run is this agent's to move, and in which state it may be moved."""

from __future__ import annotations

from accounts.auth import AgentPrincipal
from accounts.errors import NotFound
from ledger.links import review_url
from ledger.state import RunState
from reviews.errors import RunClosed, RunPaused, review_reference


def own(run: RunState, agent: AgentPrincipal) -> None:
    """Another agent's run is answered exactly like an absent one."""
    if run.agent_id != agent.agent_id:
        raise NotFound


def refuse_closed(run: RunState) -> None:
    if run.closed:
        raise RunClosed.of(run)


def refuse_unless_running(run: RunState, agent: AgentPrincipal) -> None:
    refuse_closed(run)
    if run.status == "paused":
        raise RunPaused(
            "Wait for the ruling: GET /runs/{run}/decision?wait=25.",
            review=first_review(run, project_slug=agent.project_slug),
        )


def first_review(run: RunState, *, project_slug: str) -> dict[str, str] | None:
    if not run.open_reviews:
        return None
    review = run.open_reviews[0]
    return review_reference(
        code=review.code,
        kind=review.kind,
        url=review_url(project_slug=project_slug, review=review.code),
    )
