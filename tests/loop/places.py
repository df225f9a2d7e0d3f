"""A project with a loop of its own, and one beside it to compare with."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from accounts.auth import Principal
from accounts.models import Project, Role
from loop.control.clock import run_cycle
from loop.inbox.notes import add_note
from loop.inbox.recommendations import add_recommendation
from loop.inbox.triggers import accept_signal
from loop.models import (
    Decision,
    Note,
    ProjectLoop,
    Recommendation,
)
from loop.runs import get_loop
from tests.loop.saying import FAILED
from tests.support.builders import (
    Person,
    make_person,
    make_project,
    make_robot,
)

ADVICE = {"advice": "Read the guide."}


@dataclass(frozen=True, kw_only=True)
class Place:
    """A project with an agent and a manager in it."""

    project: Project
    agent: Principal
    manager: Person

    @property
    def loop(self) -> ProjectLoop:
        return get_loop(self.project.pk)

    def signal(self, type: str = FAILED, **data: Any) -> str:
        told = accept_signal(
            project_id=self.project.pk, principal=self.agent, type=type, data=data
        )
        code: str = json.loads(told.body)["decision_id"]
        return code

    def decide(self, type: str = FAILED, **data: Any) -> Decision:
        code = self.signal(type, **data)
        run_cycle(self.project.pk)
        return Decision.objects.get(code=code)

    def note(self, text: str = "Look at it", by: Principal | None = None) -> Note:
        told = add_note(
            project_id=self.project.pk,
            principal=by or self.agent,
            text=text,
            data={},
        )
        return Note.objects.get(code=json.loads(told.body)["id"])

    def recommend(self, title: str = "Read it") -> Recommendation:
        told = add_recommendation(
            project_id=self.project.pk,
            principal=self.agent,
            title=title,
            detail="",
            change=ADVICE,
        )
        return Recommendation.objects.get(code=json.loads(told.body)["id"])


def make_place() -> Place:
    project = make_project()
    return Place(
        project=project,
        agent=make_robot(project=project).principal,
        manager=make_person("mia", role=Role.MANAGER, project=project),
    )
