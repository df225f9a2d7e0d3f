"""What a model said of calls, and how often people came to the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from accounts.models import Project
from gateway.use_cases import tool_calls
from guidance.core.look_first import Look
from ledger.statistics.counting import count_project
from ledger.statistics.recount import list_differences
from tests.gateway.calls.calls import command, rule
from tests.reviews.statistics.test_reviews import ask
from tests.support.builders import make_policy, start_run

Say = Callable[..., None]


@pytest.fixture
def say(monkeypatch: pytest.MonkeyPatch, project: Project) -> Say:
    """A model that the policy lets look first says this of all calls from here on."""
    look = {"enabled": True, "rules": ["delete-*"]}
    make_policy("looked", project=project, tools={"first_look": look})

    def say_of_calls(answer: str | None, *, blind: bool) -> None:
        trouble = None if answer else "no answer within 8 s"
        said = Look(answer=answer, reason="Why.", blind=blind, trouble=trouble)

        async def look_first(*_: object, **__: object) -> Look:
            return said

        monkeypatch.setattr(tool_calls, "look_first", look_first)

    return say_of_calls


def call_under_policy(agent: httpx.Client) -> dict[str, Any]:
    return command(agent, start_run(agent, policy="looked"))


def test_people_and_the_model_are_compared_where_they_did_not_see_it(
    agent: httpx.Client,
    reviewer: httpx.Client,
    manager: httpx.Client,
    project: Project,
    say: Say,
) -> None:
    for answer, blind, actions in (
        ("allow", True, ("approve", "approve", "deny", "abort")),
        ("deny", True, ("approve", "deny")),
        # They saw it, or it had no answer: nothing is compared.
        ("ask", False, ("deny",)),
        (None, False, ("deny",)),
    ):
        say(answer, blind=blind)
        for action in actions:
            ruled = rule(reviewer, call_under_policy(agent), action)
            assert ruled.status_code == 200, ruled.text
    call_under_policy(agent)  # nobody has ruled on it
    count_project(project_id=project.pk)

    model = ask(manager)["disagreement"]["with_model"]
    assert model == {"compared": 6, "too_lenient": 2, "too_strict": 1, "share": 0.5}
    assert list_differences(project_id=project.pk) == []


def test_a_changed_call_is_no_agreement(
    agent: httpx.Client,
    reviewer: httpx.Client,
    manager: httpx.Client,
    project: Project,
    say: Say,
) -> None:
    for answer in ("allow", "deny"):
        say(answer, blind=True)
        call = call_under_policy(agent)
        rule(reviewer, call, "amend", amended={"command": "ls build"})
    count_project(project_id=project.pk)
    model = ask(manager)["disagreement"]["with_model"]
    assert (model["compared"], model["too_lenient"], model["too_strict"]) == (2, 1, 0)


def test_what_a_model_settled_needed_no_person(
    agent: httpx.Client, manager: httpx.Client, project: Project, say: Say
) -> None:
    say("allow", blind=False)
    assert call_under_policy(agent)["decision"] == "allow"
    say("deny", blind=False)
    assert call_under_policy(agent)["decision"] == "block"
    say("allow", blind=True)
    assert call_under_policy(agent)["decision"] == "require-confirmation"
    count_project(project_id=project.pk)
    assert ask(manager)["not_asked"]["model"] == 2
