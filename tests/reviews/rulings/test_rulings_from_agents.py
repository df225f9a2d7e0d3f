"""What a person's token may not do from inside an agent's session: a person is asked."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from accounts.models import Agent, Project
from common.ids import uuid7
from reviews.models import Review
from tests.support.builders import (
    Person,
    make_policy,
    pause_at_once,
    start_run,
    step,
)
from tests.support.live import Live
from tests.support.people import get_seen, rule
from tests.support.problems import problem

pytestmark = pytest.mark.once("asks who may rule, not SQL")

CLIENT = Path(__file__).resolve().parents[3] / "client"
MARK = {"Checkrail-Agent-Session": "claude-code:0192"}
# These tighten, or ask the policy of the run; of a run that does not exist they say 404.
NOT_LOOSENING = {
    "/reviews/{review}/ruling",
    "/reviews/bulk-ruling",
    "/runs/{run}/warnings/{warning}/acknowledge",
    "/runs/{run}/reopen",
    "/runs/{run}/abort",
    "/permissions/{permission}/revoke",
    "/runs/{run}/allowances/{allowance}/revoke",
    "/exemptions/{exemption}/revoke",
    "/halts",
    "/policies/validate",
}


def stop_at_once(client: httpx.Client, **more: str) -> str:
    """A run that a gate has stopped; returns its id."""
    run = start_run(client, **more)
    body = step(1, coherence=0.1, rework=True)
    assert client.post(f"/runs/{run}/steps", json=body).json()["decision"] == "stop"
    return run


def rule_inside(client: httpx.Client, review: str, action: str) -> httpx.Response:
    body = {"action": action, **get_seen(client, review)}
    return client.post(f"/reviews/{review}/ruling", json=body, headers=MARK)


@pytest.mark.parametrize("action", ["approve", "abort"])
def test_a_token_does_not_rule_from_inside_a_session(
    agent: httpx.Client, reviewer: httpx.Client, action: str
) -> None:
    review = pause_at_once(agent, start_run(agent))

    refused = rule_inside(reviewer, review, action)

    assert "agent's session" in problem(refused, "forbidden")["detail"]
    assert Review.objects.get(code=review).state == "open"
    assert rule(reviewer, review, action)["state"] == "ruled"


def trust(project: Project, *, owner: Person) -> None:
    """A policy that takes rulings from sessions, and an owner: not who rules."""
    make_policy("trusting", project=project, reviews={"rulings_from_agents": True})
    Agent.objects.filter(project=project).update(owner=owner.user)


def test_a_policy_may_take_such_rulings(
    agent: httpx.Client, reviewer: httpx.Client, project: Project, alice: Person
) -> None:
    trust(project, owner=alice)
    review = pause_at_once(agent, start_run(agent, policy="trusting"))

    assert rule_inside(reviewer, review, "approve").status_code == 200


def test_a_stopped_run_is_not_reopened_from_inside_a_session(
    agent: httpx.Client, manager: httpx.Client
) -> None:
    run = stop_at_once(agent)
    body = {"reason": "go on", "budget": {"tokens": 1_000_000}}

    refused = manager.post(f"/runs/{run}/reopen", json=body, headers=MARK)

    assert "agent's session" in problem(refused, "forbidden")["detail"]
    assert manager.get(f"/runs/{run}").json()["status"] == "stopped"
    again = manager.post(f"/runs/{run}/reopen", json=body)
    assert again.json()["status"] == "running"


def test_the_policy_that_takes_rulings_lets_a_run_be_reopened(
    agent: httpx.Client, manager: httpx.Client, project: Project, bob: Person
) -> None:
    trust(project, owner=bob)
    run = stop_at_once(agent, policy="trusting")
    body = {"reason": "go on", "budget": {"tokens": 1_000_000}}

    reopened = manager.post(f"/runs/{run}/reopen", json=body, headers=MARK)

    assert reopened.status_code == 200


def test_a_run_is_stopped_from_anywhere(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)

    aborted = reviewer.post(f"/runs/{run}/abort", json={"reason": "x"}, headers=MARK)

    assert aborted.json()["status"] == "aborted"


def test_an_empty_mark_is_one(agent: httpx.Client, reviewer: httpx.Client) -> None:
    review = pause_at_once(agent, start_run(agent))
    empty = dict.fromkeys(MARK, "")

    refused = reviewer.post(f"/reviews/{review}/claim", headers=empty)

    assert "agent's session" in problem(refused, "forbidden")["detail"]


def list_writes(client: httpx.Client) -> list[tuple[str, str]]:
    """Every operation with which a person's program changes something."""
    document = client.get("/openapi.json").json()
    return [
        (method.upper(), path.removeprefix("/api/v1"))
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
        if method != "get" and {"PersonBearer": []} in operation["security"]
    ]


def test_whatever_else_a_person_changes_is_refused_there(
    manager: httpx.Client,
) -> None:
    """Also what is added one day, unless it says that it loosens nothing."""
    writes = list_writes(manager)
    statuses = {
        path: manager.request(
            method, re.sub(r"\{\w+\}", str(uuid7()), path), json={}, headers=MARK
        ).status_code
        for method, path in writes
    }

    assert len(writes) > 15
    assert {path for path, status in statuses.items() if status != 403} == NOT_LOOSENING


@pytest.mark.parametrize(
    "session",
    [
        {"CLAUDECODE": "1"},
        {"CODEX_THREAD_ID": "7"},
        {"CHECKRAIL_AGENT_SESSION": "claude-code:0192"},
    ],
    ids=["claude-code", "codex", "marked by the hook"],
)
def test_the_command_line_marks_what_it_sends_from_a_session(
    agent: httpx.Client,
    live: Live,
    bob: Person,
    tmp_path: Path,
    session: dict[str, str],
) -> None:
    review = pause_at_once(agent, start_run(agent))
    login = tmp_path / "login.json"
    login.write_text(json.dumps({"url": live.url, "token": bob.token}))

    def approve(**more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "checkrail", "approve", review, "--yes"],
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(tmp_path),
                "PYTHONPATH": str(CLIENT),
                "CHECKRAIL_CONFIG": str(login),
                **more,
            },
            capture_output=True,
            text=True,
            check=False,
        )

    inside = approve(**session)
    assert inside.returncode != 0
    assert "a person is asked" in inside.stderr
    assert Review.objects.get(code=review).state == "open"

    outside = approve()
    assert outside.returncode == 0, outside.stderr
    assert Review.objects.get(code=review).state == "ruled"
