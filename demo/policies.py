"""The policy of the demo agent that starts other runs: it limits what they use in a day."""

from __future__ import annotations

from accounts.models import Project
from common.errors import Unchanged
from demo.agents.profiles.trees import DAY_LIMIT, UPGRADER
from guidance.core.policy.assignments import Assignment, Match
from reviews.policies.assignments import list_assignments, replace_assignments
from reviews.policies.services import create_version

NAME = "upgrades"
_NOTE = "What the upgrades may use in a day."


def assign_demo_policy(project: Project) -> None:
    """Once: what people have changed since stays as it is."""
    if list_assignments(project.pk):
        return
    try:
        create_version(
            project_id=project.pk,
            name=NAME,
            document={"limits": {"agent_day": DAY_LIMIT}},
            note=_NOTE,
            activate=True,
        )
    except Unchanged:
        pass  # somebody has emptied the assignments: they are made again
    match = Match(agent=UPGRADER.name)
    replace_assignments(
        project_id=project.pk, assignments=[Assignment(match=match, policy=NAME)]
    )
