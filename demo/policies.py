"""Policies of two demo agents: what one may use in a day, and what a model may settle for
the other."""

from __future__ import annotations

from typing import Any, NamedTuple

from accounts.models import Project
from common.errors import Unchanged
from demo.agents.profiles.calls import JANITOR
from demo.agents.profiles.trees import DAY_LIMIT, UPGRADER
from guidance.core.policy.assignments import Assignment, Match
from reviews.policies.assignments import list_assignments, replace_assignments
from reviews.policies.services import create_version


class _DemoPolicy(NamedTuple):
    agent: str
    name: str
    document: dict[str, Any]
    note: str


_POLICIES = (
    _DemoPolicy(
        agent=UPGRADER.name,
        name="upgrades",
        document={"limits": {"agent_day": DAY_LIMIT}},
        note="What the upgrades may use in a day.",
    ),
    _DemoPolicy(
        agent=JANITOR.name,
        name="cleaning",
        document={
            "tools": {
                "first_look": {
                    "enabled": True,
                    "rules": ["delete-*", "container-*", "sql-*"],
                    "blind_share": 0.25,
                }
            }
        },
        note="A model looks first at what is cleaned up.",
    ),
)


def assign_demo_policies(project: Project) -> None:
    """Once: what people have changed since stays as it is."""
    if list_assignments(project.pk):
        return
    for policy in _POLICIES:
        try:
            create_version(
                project_id=project.pk,
                name=policy.name,
                document=policy.document,
                note=policy.note,
                activate=True,
            )
        except Unchanged:
            pass  # somebody has emptied the assignments: they are made again
    replace_assignments(
        project_id=project.pk,
        assignments=[
            Assignment(match=Match(agent=policy.agent), policy=policy.name)
            for policy in _POLICIES
        ],
    )
