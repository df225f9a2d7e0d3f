"""Plans as the tests submit them, and calls that follow or leave them."""

from __future__ import annotations

from typing import Any

import httpx

from tests.gateway.calls.calls import rule

Plan = dict[str, Any]


def bash(text: str, **more: Any) -> Plan:
    return {"tool": "Bash", "command": text, **more}


def build_step(*calls: Plan, purpose: str = "Clean up", paths: Any = ()) -> Plan:
    return {"purpose": purpose, "calls": [*calls], "paths": [*paths]}


def build_plan(*steps: Plan, title: str = "Tidy the build", **limits: Any) -> Plan:
    return {"title": title, "steps": [*steps], "limits": limits}


def submit(agent: httpx.Client, run: str, plan: Plan) -> dict[str, Any]:
    answer = agent.post(f"/runs/{run}/plans", json=plan)
    assert answer.status_code == 201, answer.text
    review: dict[str, Any] = answer.json()
    return review


def rule_plan(
    person: httpx.Client, review: dict[str, Any], action: str = "approve", **more: Any
) -> httpx.Response:
    return rule(person, {"review": review}, action, **more)


def approve(
    agent: httpx.Client, person: httpx.Client, run: str, plan: Plan
) -> dict[str, Any]:
    """A plan that a person approves whole; returns its review."""
    review = submit(agent, run, plan)
    ruled = rule_plan(person, review)
    assert ruled.status_code == 200, ruled.text
    return review


def list_plans(client: httpx.Client, run: str) -> list[Plan]:
    answer = client.get(f"/runs/{run}/plans")
    assert answer.status_code == 200, answer.text
    items: list[Plan] = answer.json()["items"]
    return items


def get_plan_finding(answer: dict[str, Any]) -> dict[str, Any]:
    (finding,) = [each for each in answer["findings"] if each["gate"] == "plan"]
    found: dict[str, Any] = finding
    return found
