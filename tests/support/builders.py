"""Plain builders: a project of its own for every test, and the people in it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import Any
from uuid import uuid4

import httpx

from accounts.auth import (
    AgentPrincipal,
    PersonPrincipal,
    build_person_principal,
    find_principal,
    require_agent,
)
from accounts.models import Project, Role, User
from accounts.services import add_person, ensure_project, issue_agent_key
from common.errors import Unchanged
from console.models import Preferences
from guidance.models import PolicyVersion
from reviews.policies.assignments import replace_assignments
from reviews.policies.services import create_version

_numbers = count(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Somebody with a role, a password and a token."""

    user: User
    password: str
    token: str

    @property
    def principal(self) -> PersonPrincipal:
        return build_person_principal(self.user)

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Robot:
    """An agent with its key."""

    name: str
    key: str

    @property
    def principal(self) -> AgentPrincipal:
        return require_agent(find_principal(self.key))

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}"}


def unique(name: str) -> str:
    return f"{name}-{uuid4().hex[:8]}-{next(_numbers)}"


def make_project() -> Project:
    return ensure_project(slug=unique("project"))


def make_person(name: str, *, role: Role, project: Project) -> Person:
    """Somebody who has chosen their password already."""
    added = add_person(name=unique(name), role=role, project_slug=project.slug)
    User.objects.filter(pk=added.user.pk).update(must_change_password=False)
    added.user.must_change_password = False
    # What they rule is sent at once, except where a test is about that.
    Preferences.objects.create(user=added.user, takes_back=False, introduced=True)
    return Person(user=added.user, password=added.password, token=added.token)


def make_robot(name: str = "robo", *, project: Project) -> Robot:
    _, key = issue_agent_key(name=name, project_slug=project.slug)
    return Robot(name=name, key=key)


def make_policy(name: str, *, project: Project, **sections: Any) -> PolicyVersion:
    """The next version of a policy, in force, if it changes anything; what is left out
    keeps its default. Agents may choose those that are not the default."""
    if name != "default":
        replace_assignments(project_id=project.pk, agents_choose=True)
    try:
        return create_version(
            project_id=project.pk, name=name, document=sections, activate=True
        ).version
    except Unchanged as unchanged:
        versions = PolicyVersion.objects.filter(project=project, name=name)
        return versions.get(version=unchanged.extra["version"])


def step(number: int, **more: Any) -> dict[str, Any]:
    """The body of an uneventful step."""
    return {"number": number, "tokens": 1000, "tool_calls": 1, **more}


def start_run(client: httpx.Client, **more: Any) -> str:
    """A new run of the client's agent; returns its id."""
    answer = client.post("/runs", json={"task": "Fix the flaky login test", **more})
    assert answer.status_code == 201, answer.text
    code: str = answer.json()["id"]
    return code


def pause_at_once(client: httpx.Client, run: str, *, number: int = 1) -> str:
    """One uncertain step pauses the run; returns the review's id."""
    body = step(number, uncertainty=0.95)
    answer = client.post(f"/runs/{run}/steps", json=body)
    assert answer.status_code == 201, answer.text
    review: str = answer.json()["review"]["id"]
    return review


def pause_run(client: httpx.Client, run: str, *, first: int = 1) -> dict[str, Any]:
    """Report rework until the continue gate pauses the run; returns the decision."""
    for number in range(first, first + 20):
        answer = client.post(f"/runs/{run}/steps", json=step(number, rework=True))
        assert answer.status_code == 201, answer.text
        decision: dict[str, Any] = answer.json()
        if decision["decision"] == "pause":
            return decision
    raise AssertionError("The run was not paused.")
