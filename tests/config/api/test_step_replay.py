"""A step's number is its own idempotency key."""

from __future__ import annotations

import httpx

from tests.support.builders import pause_run, start_run, step
from tests.support.problems import problem


def test_the_same_step_again_gets_the_stored_answer(agent: httpx.Client) -> None:
    run = start_run(agent)
    body = step(1, confidences=[0.9], summary="é", cost_usd="0.10")
    first = agent.post(f"/runs/{run}/steps", json=body)
    agent.post(f"/runs/{run}/steps", json=step(2))

    again = agent.post(f"/runs/{run}/steps", json=body)

    assert again.status_code == 201
    assert again.headers["idempotency-replayed"] == "true"
    assert again.content == first.content
    assert agent.get(f"/runs/{run}").json()["steps"] == 2


def test_the_same_step_in_other_words_is_the_same_step(agent: httpx.Client) -> None:
    """Key order, spelled-out defaults and 0.1 for 0.10 change nothing that is meant."""
    run = start_run(agent)
    first = agent.post(
        f"/runs/{run}/steps", json={"number": 1, "tokens": 5, "tool_calls": 1}
    )

    same = {"tool_calls": 1, "cost_usd": "0.00", "rework": False, "tokens": 5}
    again = agent.post(f"/runs/{run}/steps", json={**same, "number": 1})

    assert again.headers["idempotency-replayed"] == "true"
    assert again.content == first.content


def test_the_same_number_with_another_body_is_a_conflict(agent: httpx.Client) -> None:
    run = start_run(agent)
    agent.post(f"/runs/{run}/steps", json=step(1))
    before = agent.get(f"/runs/{run}").json()

    problem(agent.post(f"/runs/{run}/steps", json=step(1, tokens=1)), "step-conflict")

    assert agent.get(f"/runs/{run}").json() == before


def test_a_step_is_replayed_whatever_became_of_the_run(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    decision = pause_run(agent, run)
    body = step(5, rework=True)

    while_paused = agent.post(f"/runs/{run}/steps", json=body)
    reviewer.post(f"/runs/{run}/abort", json={"reason": "no"})
    when_aborted = agent.post(f"/runs/{run}/steps", json=body)

    assert while_paused.json() == when_aborted.json() == decision
    assert when_aborted.headers["idempotency-replayed"] == "true"
    problem(agent.post(f"/runs/{run}/steps", json=step(5)), "step-conflict")
    problem(agent.post(f"/runs/{run}/steps", json=step(6)), "run-closed")
