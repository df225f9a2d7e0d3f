"""How much is used of the limits that an agent's or a project's runs share."""

from __future__ import annotations

from datetime import datetime

from accounts.models import Project
from console.overview.needs.limits import UsedLimit
from reviews.policies.limits.selectors import (
    list_agent_use,
    list_agents_with_use,
    list_project_use,
)


def list_used_limits(project: Project, *, at: datetime) -> list[UsedLimit]:
    """Of the project, and of every agent that has used something today; those of its
    default policy first."""
    agents = list(list_agents_with_use(project, at=at))
    uses = [
        *list_project_use(project, at=at),
        *list_agent_use(project, agents, at=at),
    ]
    return [
        UsedLimit(
            agent=use.agent.name if use.agent else "",
            scope=use.scope,
            policy=use.policy or "",
            part=each.part,
            used=each.used,
            limit=each.limit,
        )
        for use in uses
        for each in use.parts
        if each.limit is not None
    ]
