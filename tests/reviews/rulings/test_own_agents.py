"""A token rules from no agent's session on what that person's own agents have asked.

The policy here takes rulings from inside sessions; what a session says of itself can only
add a refusal, so every lie is tried as well.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator

import httpx
import pytest

from accounts.models import Agent, Project
from reviews.models import Review
from tests.conftest import client_for
from tests.gateway.coding_agents.hosts import Host
from tests.support.builders import (
    Person,
    Robot,
    make_policy,
    make_robot,
    pause_at_once,
    start_run,
)
from tests.support.live import Live
from tests.support.people import get_seen, rule
from tests.support.problems import problem

pytestmark = pytest.mark.once("asks who may rule, not SQL")

MARK = "Checkrail-Agent-Session"
# From a session that nobody knows.
UNKNOWN = "claude-code:0192"
TRUSTING = {"rulings_from_agents": True}


@pytest.fixture
def asked(agent: httpx.Client, project: Project) -> str:
    """A review of robo, whose policy takes rulings from inside sessions."""
    make_policy("trusting", project=project, reviews=TRUSTING)
    return pause_at_once(agent, start_run(agent, policy="trusting"))


@pytest.fixture
def other(live: Live, project: Project) -> Iterator[httpx.Client]:
    """Another agent of the project."""
    with client_for(live, make_robot("aide", project=project)) as client:
        yield client


def give(project: Project, owner: Person | None, *, agent: str = "robo") -> None:
    agents = Agent.objects.filter(project=project, name=agent)
    assert agents.update(owner=owner.user if owner else None) == 1


def rule_inside(
    client: httpx.Client, review: str, *, mark: str = UNKNOWN, action: str = "approve"
) -> httpx.Response:
    body = {"action": action, **get_seen(client, review)}
    return client.post(
        f"/reviews/{review}/ruling", json=body, headers={MARK.encode(): mark.encode()}
    )


def read_refusal(answer: httpx.Response) -> str:
    detail: str = problem(answer, "forbidden")["detail"]
    return detail


@pytest.mark.parametrize("action", ["approve", "abort"])
@pytest.mark.parametrize(
    "mark", [UNKNOWN, "claude-code", "x", "::", "", "0" * 3_000, "claude-code:%00'\xff"]
)
def test_the_owner_does_not_rule_there_whatever_the_session_says(
    asked: str,
    project: Project,
    reviewer: httpx.Client,
    bob: Person,
    action: str,
    mark: str,
) -> None:
    give(project, bob)

    refused = read_refusal(rule_inside(reviewer, asked, mark=mark, action=action))

    assert "your own" in refused
    assert "in the console, or ask another person" in refused
    assert Review.objects.get(code=asked).state == "open"
    assert rule(reviewer, asked, action)["state"] == "ruled"


def test_another_person_rules_there(
    asked: str, project: Project, reviewer: httpx.Client, alice: Person
) -> None:
    give(project, alice)

    assert rule_inside(reviewer, asked).json()["state"] == "ruled"


def test_nobody_rules_there_on_an_agent_without_an_owner(
    asked: str, reviewer: httpx.Client, manager: httpx.Client
) -> None:
    """It may be the very one: nobody can tell."""
    for client in (reviewer, manager):
        assert "no owner" in read_refusal(rule_inside(client, asked))
    assert rule(reviewer, asked, "approve")["state"] == "ruled"


def test_nobody_rules_from_the_session_of_the_agent_itself(
    agent: httpx.Client,
    other: httpx.Client,
    asked: str,
    project: Project,
    reviewer: httpx.Client,
    alice: Person,
) -> None:
    give(project, alice)
    own, foreign = Host(client=agent), Host(client=other)
    own.before("ls")
    foreign.before("ls")

    refused = read_refusal(
        rule_inside(reviewer, asked, mark=f"claude-code:{own.session}")
    )

    assert "session of the agent that asked" in refused
    foreign_mark = f"claude-code:{foreign.session}"
    assert rule_inside(reviewer, asked, mark=foreign_mark).status_code == 200


def test_the_session_of_another_agent_does_not_help_the_owner(
    other: httpx.Client,
    asked: str,
    project: Project,
    reviewer: httpx.Client,
    bob: Person,
    alice: Person,
) -> None:
    give(project, bob)
    give(project, alice, agent="aide")
    foreign = Host(client=other)
    foreign.before("ls")

    answer = rule_inside(reviewer, asked, mark=f"claude-code:{foreign.session}")

    assert "your own" in read_refusal(answer)


def test_a_new_owner_counts_at_once(
    asked: str, project: Project, reviewer: httpx.Client, bob: Person, alice: Person
) -> None:
    give(project, bob)
    assert "your own" in read_refusal(rule_inside(reviewer, asked))
    give(project, None)
    assert "no owner" in read_refusal(rule_inside(reviewer, asked))
    give(project, alice)
    assert rule_inside(reviewer, asked).status_code == 200


def test_a_policy_may_let_an_owner_rule_there(
    agent: httpx.Client, project: Project, reviewer: httpx.Client, bob: Person
) -> None:
    free = {**TRUSTING, "refuse_own_agents": False}
    make_policy("free", project=project, reviews=free)
    give(project, bob)
    review = pause_at_once(agent, start_run(agent, policy="free"))

    assert rule_inside(reviewer, review).status_code == 200


def test_that_alone_lets_no_ruling_in(
    agent: httpx.Client, project: Project, reviewer: httpx.Client, alice: Person
) -> None:
    make_policy("half", project=project, reviews={"refuse_own_agents": False})
    give(project, alice)
    review = pause_at_once(agent, start_run(agent, policy="half"))

    assert "a person is asked" in read_refusal(rule_inside(reviewer, review))


def test_an_owner_reopens_and_acknowledges_nothing_there(
    agent: httpx.Client, project: Project, manager: httpx.Client, alice: Person
) -> None:
    make_policy("trusting", project=project, reviews=TRUSTING)
    give(project, alice)
    run = start_run(agent, policy="trusting")
    for path in ("reopen", "warnings/0192/acknowledge"):
        body = {"reason": "go on"}
        answer = manager.post(f"/runs/{run}/{path}", json=body, headers={MARK: UNKNOWN})
        assert "your own" in read_refusal(answer)


def test_a_refusal_is_in_the_log(
    asked: str,
    project: Project,
    robo: Robot,
    reviewer: httpx.Client,
    bob: Person,
    caplog: pytest.LogCaptureFixture,
) -> None:
    give(project, bob)
    with caplog.at_level(logging.WARNING, logger="reviews"):
        rule_inside(reviewer, asked)

    (line,) = [
        record.getMessage()
        for record in caplog.records
        if record.name.startswith("reviews")
    ]
    assert bob.user.username in line
    assert UNKNOWN in line
    assert f"agent {robo.name}" in line
    assert bob.token not in line
