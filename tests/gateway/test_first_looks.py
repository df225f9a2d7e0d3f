"""What a model said of calls, and how often people came to the same."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import httpx
import pytest

from accounts.models import Project
from gateway.transitions import build_time_facts
from gateway.use_cases import call_requests
from ledger.state import RunState
from ledger.statistics.counting import count_project
from ledger.statistics.recount import list_differences
from tests.gateway.calls.calls import command, rule
from tests.reviews.statistics.test_reviews import ask
from tests.support.builders import start_run

Say = Callable[..., None]


@pytest.fixture
def say(monkeypatch: pytest.MonkeyPatch) -> Say:
    """The entries of all calls from here on say that a model has looked at them."""

    def say_of_calls(answer: str | None, *, settles: bool = False, blind: bool) -> None:
        look = {
            "answer": answer,
            "settles": settles,
            "blind": blind,
            "model": "small",
            "reason": "A build folder.",
            "trouble": None,
        }

        def build_facts(run: RunState, at: datetime) -> dict[str, Any]:
            return {**build_time_facts(run, at), "first_look": look}

        monkeypatch.setattr(call_requests, "build_time_facts", build_facts)

    return say_of_calls


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
        ("allow", False, ("deny",)),
        ("ask", True, ("deny",)),
        (None, True, ("deny",)),
    ):
        say(answer, blind=blind)
        for action in actions:
            ruled = rule(reviewer, command(agent, start_run(agent)), action)
            assert ruled.status_code == 200, ruled.text
    command(agent, start_run(agent))  # nobody has ruled on it
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
        call = command(agent, start_run(agent))
        rule(reviewer, call, "amend", amended={"command": "ls build"})
    count_project(project_id=project.pk)
    model = ask(manager)["disagreement"]["with_model"]
    assert (model["compared"], model["too_lenient"], model["too_strict"]) == (2, 1, 0)


def test_what_a_model_settled_needed_no_person(
    agent: httpx.Client, manager: httpx.Client, project: Project, say: Say
) -> None:
    run = start_run(agent)
    say("allow", settles=True, blind=False)
    command(agent, run, "ls")
    say("allow", settles=False, blind=True)
    command(agent, run, "ls")
    count_project(project_id=project.pk)
    assert ask(manager)["not_asked"]["model"] == 1
