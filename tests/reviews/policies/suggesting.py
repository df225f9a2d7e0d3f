"""What agents and people do in the tests of suggestions, and what is asked for."""

from __future__ import annotations

from typing import Any

import httpx

from reviews.tasks import run_backtests
from tests.gateway.calls.calls import command
from tests.gateway.calls.calls import rule as rule_call
from tests.support.builders import (
    start_run,
    step,
)

SETTING = "continue.max_uncertainty"


def report(agent: httpx.Client, run: str, *figures: float) -> dict[str, Any]:
    for number, uncertainty in enumerate(figures, 1):
        body = step(number, uncertainty=uncertainty)
        answer = agent.post(f"/runs/{run}/steps", json=body)
        assert answer.status_code == 201, answer.text
    decision: dict[str, Any] = answer.json()
    return decision


def abort(agent: httpx.Client, reviewer: httpx.Client, *figures: float) -> str:
    run = start_run(agent)
    report(agent, run, *figures)
    answer = reviewer.post(f"/runs/{run}/abort", json={"reason": "In circles"})
    assert answer.status_code == 200, answer.text
    return run


def look(manager: httpx.Client, name: str = "default") -> dict[str, Any]:
    answer = manager.post(f"/policies/{name}/suggestions", json={})
    assert answer.status_code == 202, answer.text
    run_backtests()
    return read(manager, name)


def read(client: httpx.Client, name: str = "default") -> dict[str, Any]:
    answer = client.get(f"/policies/{name}/suggestions")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def get_limit(found: dict[str, Any], setting: str = SETTING) -> dict[str, Any]:
    limit: dict[str, Any] = next(
        each for each in found["limits"] if each["setting"] == setting
    )
    return limit


def draft(manager: httpx.Client, setting: str, name: str = "default") -> httpx.Response:
    return manager.post(
        f"/policies/{name}/suggestions/draft", json={"setting": setting}
    )


def answer_calls(
    agent: httpx.Client, reviewer: httpx.Client, text: str, *actions: str
) -> None:
    run = start_run(agent)
    for number, action in enumerate(actions):
        rule_call(reviewer, command(agent, run, f"{text}{number}"), action)
