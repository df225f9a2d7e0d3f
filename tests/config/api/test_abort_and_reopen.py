"""What people do to a run: abort it for good, or reopen one that a gate stopped."""

from __future__ import annotations

import httpx
import pytest

from tests.support.builders import pause_run, start_run, step
from tests.support.problems import fields, problem

pytestmark = pytest.mark.once("forms of requests; the same writer stores them")


def stop_run(agent: httpx.Client, run: str) -> None:
    body = step(1, coherence=0.1, rework=True, tokens=900, signature="same")
    assert agent.post(f"/runs/{run}/steps", json=body).json()["decision"] == "stop"


def test_an_abort_ends_the_run_and_whatever_waited(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    review = pause_run(agent, run)["review"]["id"]

    answer = reviewer.post(f"/runs/{run}/abort", json={"reason": "wrong branch"})

    body = answer.json()
    assert answer.status_code == 200
    assert body["status"] == "aborted"
    assert body["status_reason"] == "wrong branch"
    assert body["open_reviews"] == []
    assert body["finished_at"] is not None
    closed = reviewer.get(f"/reviews/{review}").json()
    assert closed["state"] == "superseded"
    assert closed["rulings"] == []
    assert closed["ruling"] is None
    assert closed["closed_at"] == body["finished_at"]
    decision = agent.get(f"/runs/{run}/decision").json()
    assert decision["run_status"] == "aborted"
    assert decision["state"] == "superseded"


def test_a_stopped_run_may_still_be_aborted(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    stop_run(agent, run)

    answer = reviewer.post(f"/runs/{run}/abort", json={})

    assert answer.json()["status"] == "aborted"
    assert answer.json()["status_reason"]


def test_a_run_is_aborted_once(agent: httpx.Client, reviewer: httpx.Client) -> None:
    run = start_run(agent)
    first = reviewer.post(f"/runs/{run}/abort", json={"reason": "a"}).json()

    again = reviewer.post(f"/runs/{run}/abort", json={"reason": "b"})

    assert problem(again, "run-closed")["run_status"] == "aborted"
    assert agent.get(f"/runs/{run}").json() == first


def test_a_finished_run_cannot_be_aborted(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    agent.post(f"/runs/{run}/finish", json={"outcome": "completed"})

    problem(reviewer.post(f"/runs/{run}/abort", json={}), "run-closed")


def test_a_reopened_run_keeps_its_totals_and_forgets_its_segment(
    agent: httpx.Client, manager: httpx.Client
) -> None:
    run = start_run(agent, budget={"tokens": 1000})
    stop_run(agent, run)

    answer = manager.post(
        f"/runs/{run}/reopen",
        json={"reason": "looked at it", "budget": {"tokens": 5000, "cost_usd": None}},
    )

    body = answer.json()
    assert answer.status_code == 200
    assert body["status"] == "running"
    assert body["steps"] == body["rework_steps"] == 1
    assert body["budget"]["tokens"] == {"limit": 5000, "used": 900, "remaining": 4100}
    assert body["budget"]["cost_usd"]["limit"] is None
    assert body["budget"]["tool_calls"]["limit"] == 10_000
    decision = agent.post(
        f"/runs/{run}/steps", json=step(2, tokens=10, rework=True)
    ).json()
    assert decision["decision"] == "continue"
    assert decision["metrics"]["rework_ratio_total"] == 1.0
    assert decision["metrics"]["steps_since_checkpoint"] == 1
    assert decision["metrics"]["budget_remaining"]["tokens"] == 4090


def test_a_run_reopened_without_a_budget_stops_again_at_the_same_limit(
    agent: httpx.Client, manager: httpx.Client
) -> None:
    run = start_run(agent, budget={"tokens": 10})
    agent.post(f"/runs/{run}/steps", json=step(1, tokens=10))

    manager.post(f"/runs/{run}/reopen", json={"reason": "try"})

    decision = agent.post(f"/runs/{run}/steps", json=step(2, tokens=0)).json()
    assert decision["decision"] == "stop"


def test_only_a_manager_reopens(
    agent: httpx.Client, reviewer: httpx.Client, manager: httpx.Client
) -> None:
    run = start_run(agent)
    stop_run(agent, run)

    problem(reviewer.post(f"/runs/{run}/reopen", json={"reason": "x"}), "forbidden")

    assert agent.get(f"/runs/{run}").json()["status"] == "stopped"


@pytest.mark.parametrize("status", ["running", "paused"])
def test_a_run_that_is_not_stopped_is_not_reopened(
    agent: httpx.Client, manager: httpx.Client, status: str
) -> None:
    run = start_run(agent)
    if status == "paused":
        pause_run(agent, run)

    problem(manager.post(f"/runs/{run}/reopen", json={"reason": "x"}), "invalid")

    assert agent.get(f"/runs/{run}").json()["status"] == status


def test_a_final_run_is_not_reopened(
    agent: httpx.Client, manager: httpx.Client
) -> None:
    run = start_run(agent)
    manager.post(f"/runs/{run}/abort", json={})

    refusal = problem(
        manager.post(f"/runs/{run}/reopen", json={"reason": "x"}), "run-closed"
    )

    assert refusal["run_status"] == "aborted"


def test_reopening_needs_a_reason(agent: httpx.Client, manager: httpx.Client) -> None:
    run = start_run(agent)
    stop_run(agent, run)

    for body in ({}, {"reason": ""}):
        refusal = problem(manager.post(f"/runs/{run}/reopen", json=body), "invalid")
        assert fields(refusal) == ["reason"]
