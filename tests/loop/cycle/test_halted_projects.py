"""The loop of a halted project starts nothing."""

from __future__ import annotations

import httpx
import pytest

from accounts.models import Project
from tests.loop.saying import COMPLETE, events, loop_policy, outcome, sound
from tests.reviews.halts.halting import halt, release
from tests.support.people import get_seen
from tests.support.problems import problem


@pytest.fixture(autouse=True)
def policy(project: Project) -> None:
    loop_policy(project)


def test_it_starts_nothing_until_the_release(
    project: Project, manager: httpx.Client
) -> None:
    made = halt(manager, reason="Look")
    told = outcome(manager, project, about="x")
    assert (told["outcome"], told["action"]) == ("noop", "do_nothing")
    (rail,) = told["guardrails"]
    assert rail["rail"] == "halted"
    assert rail["message"] == f"halted by {made['by']}: Look"
    assert events(project) == []
    release(manager, made)
    assert outcome(manager, project, about="y")["outcome"] == "emitted"
    sound(project)


def test_nobody_approves_an_action_meanwhile(
    project: Project, manager: httpx.Client
) -> None:
    asked = outcome(manager, project, COMPLETE)
    review = asked["review"]["id"]
    made = halt(manager)
    path = f"/reviews/{review}/ruling"
    body = {"action": "approve", **get_seen(manager, review)}
    problem(manager.post(path, json=body), "halted")
    assert events(project) == []
    release(manager, made)
    assert manager.post(path, json=body).status_code == 200
    assert len(events(project)) == 1
    sound(project)


def test_a_halted_agent_does_not_hold_the_loop(
    project: Project, agent: httpx.Client, manager: httpx.Client
) -> None:
    halt(manager, {"agent": "robo"})
    assert outcome(manager, project, about="x")["outcome"] == "emitted"
