"""What a child uses counts for every run above it: no agent gets a fresh budget by
starting another run."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from accounts.models import Project
from ledger.models import Run
from ledger.verification.replay import replay_run
from tests.gateway.calls.calls import command, rule
from tests.support.builders import make_policy, start_run, step
from tests.support.problems import fields, problem


def report(client: httpx.Client, run: str, number: int, **more: Any) -> dict[str, Any]:
    answer = client.post(f"/runs/{run}/steps", json=step(number, **more))
    assert answer.status_code == 201, answer.text
    decision: dict[str, Any] = answer.json()
    return decision


def findings(decision: dict[str, Any]) -> dict[str, str]:
    return {each["gate"]: each["message"] for each in decision["findings"]}


def assert_replays(*runs: str) -> None:
    for code in runs:
        replayed = replay_run(Run.objects.get(code=code))
        assert (replayed.difference, replayed.skipped) == (None, 0)


def test_a_child_with_a_fresh_budget_is_stopped_by_its_parents(
    agent: httpx.Client,
) -> None:
    parent = start_run(agent, budget={"tokens": 1_000})
    child = start_run(agent, parent_run=parent, budget={"tokens": 1_000_000})

    first = report(agent, child, 1, tokens=400)
    second = report(agent, child, 2, tokens=700)

    assert first["decision"] == "continue"
    assert second["decision"] == "stop"
    assert findings(second)["limits"] == (
        "The parent run's tokens are used up: 1,100 of 1,000, by it and the runs below it"
    )
    assert agent.get(f"/runs/{child}").json()["status"] == "stopped"
    assert_replays(parent, child)


def test_the_parents_next_step_counts_what_its_children_used(
    agent: httpx.Client,
) -> None:
    parent = start_run(agent, budget={"tokens": 1_000, "cost_usd": "1.00"})
    child = start_run(agent, parent_run=parent)
    report(agent, child, 1, tokens=500, cost_usd="0.25")

    one = report(agent, parent, 1, tokens=100)
    two = report(agent, parent, 2, tokens=400)

    left = one["metrics"]["budget_remaining"]
    assert (left["tokens"], left["cost_usd"]) == (400, "0.75")
    assert two["decision"] == "stop"
    assert findings(two)["budget"] == "Tokens used up: 0 of 1,000 left"
    assert_replays(parent, child)


def test_what_a_grandchild_uses_counts_for_every_run_above_it(
    agent: httpx.Client,
) -> None:
    top = start_run(agent, budget={"tokens": 1_000})
    middle = start_run(agent, parent_run=top)
    bottom = start_run(agent, parent_run=middle)
    report(agent, bottom, 1, tokens=999)

    assert report(agent, middle, 1, tokens=0)["decision"] == "continue"
    assert report(agent, middle, 2, tokens=1)["decision"] == "stop"
    assert report(agent, top, 1, tokens=0)["decision"] == "stop"
    assert_replays(top, middle, bottom)


def test_calls_of_all_runs_of_a_tree_share_its_limit(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    parent = start_run(agent, budget={"tool_calls": 4})
    children = [start_run(agent, parent_run=parent) for _ in range(2)]
    assert command(agent, parent, "ls")["decision"] == "allow"
    assert command(agent, children[0], "ls")["decision"] == "allow"
    waiting = command(agent, children[1], "rm -rf /srv/data")
    assert waiting["decision"] == "require-confirmation"
    last = command(agent, parent, "ls -l")
    assert last["decision"] == "allow"
    assert last["budget_remaining"]["tool_calls"] == 0

    blocked = command(agent, children[0], "pwd")
    own = command(agent, parent, "pwd")
    assert (blocked["decision"], own["decision"]) == ("block", "block")
    assert "parent run's tool calls are used up: 4 of 4" in findings(blocked)["limits"]
    assert "budget" in findings(own)

    # A call that a person denied gives its place back.
    rule(reviewer, waiting, "deny")
    assert command(agent, children[0], "pwd")["decision"] == "allow"
    assert command(agent, children[0], "pwd -P")["decision"] == "block"
    assert_replays(parent, *children)


def test_a_child_of_a_run_that_has_ended_is_refused(agent: httpx.Client) -> None:
    parent = start_run(agent)
    agent.post(f"/runs/{parent}/finish", json={"outcome": "completed"})
    answer = agent.post("/runs", json={"task": "t", "parent_run": parent})
    assert problem(answer, "run-closed")["run_status"] == "completed"


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ({"depth": 1}, "2 runs would be above it, and the limit is 1"),
        ({"children": 1}, "its run has 1 children, and that is the limit"),
    ],
)
def test_a_tree_grows_as_far_as_the_policy_allows(
    agent: httpx.Client, project: Project, limits: dict[str, int], words: str
) -> None:
    make_policy("default", project=project, limits=limits)
    top = start_run(agent)
    child = start_run(agent, parent_run=top)
    body = {"task": "t", "parent_run": child if "depth" in limits else top}
    answer = agent.post("/runs", json=body)
    assert fields(problem(answer, "invalid")) == ["parent_run"]
    assert words in answer.json()["detail"]
