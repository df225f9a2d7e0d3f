"""What an allowance costs a step: nothing, it is part of the run that is read anyway."""

from __future__ import annotations

import httpx

from tests.gateway.shadow.test_statements import statements, take
from tests.support.builders import start_run, step
from tests.support.people import rule

__all__ = ["statements"]


def test_a_step_says_the_same_to_the_database_with_and_without(
    agent: httpx.Client, reviewer: httpx.Client, statements: list[str]
) -> None:
    run = start_run(agent)
    agent.post(f"/runs/{run}/steps", json=step(1))
    take(statements)
    agent.post(f"/runs/{run}/steps", json=step(2))
    alone = take(statements)
    paused = agent.post(f"/runs/{run}/steps", json=step(3, uncertainty=0.9)).json()
    rule(reviewer, paused["review"]["id"], "approve", allowance={"steps": 5})
    agent.post(f"/runs/{run}/steps", json=step(4))
    take(statements)
    allowed = agent.post(f"/runs/{run}/steps", json=step(5, uncertainty=0.9)).json()
    assert allowed["decision"] == "continue"
    assert take(statements) == alone
