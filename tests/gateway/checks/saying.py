"""What the tests of checks and turns say to the server."""

from __future__ import annotations

from typing import Any

import httpx

FAIL = "GATE_REVIEW: FAIL - No test covers the retry"


def open_check(
    agent: httpx.Client, run: str, *gates: str, **more: Any
) -> dict[str, Any]:
    body = {"step": 0, "gates": list(gates), **more}
    answer = agent.post(f"/runs/{run}/gate-checks", json=body)
    assert answer.status_code == 201, answer.text
    check: dict[str, Any] = answer.json()
    return check


def judge(
    agent: httpx.Client, run: str, check: dict[str, Any], text: str = "", **body: Any
) -> dict[str, Any]:
    """A verdict as text, or with its parts."""
    sent = body if body else {"text": text or FAIL}
    path = f"/runs/{run}/gate-checks/{check['id']}/verdicts"
    answer = agent.post(path, json=sent)
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


def exhaust(
    agent: httpx.Client, run: str, *gates: str, **more: Any
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Fail until a person is asked: the check, and the last answer."""
    check = open_check(agent, run, *gates, **more)
    told = judge(agent, run, check)
    while told["outcome"] == "retry":
        told = judge(agent, run, check)
    assert told["outcome"] == "exhausted", told
    return check, told


def end_turn(agent: httpx.Client, run: str, content: str) -> dict[str, Any]:
    body = {"finish_reason": "stop", "last_event": "tool_result", "content": content}
    answer = agent.post(f"/runs/{run}/turns", json=body)
    assert answer.status_code == 201, answer.text
    told: dict[str, Any] = answer.json()
    return told
