"""A ruling from inside an agent's session is refused: a person is asked."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from accounts.models import Project
from reviews.models import Review
from tests.support.builders import Person, make_policy, pause_at_once, start_run
from tests.support.live import Live
from tests.support.people import get_seen, rule
from tests.support.problems import problem

CLIENT = Path(__file__).resolve().parents[2] / "client"
MARK = {"Checkrail-Agent-Session": "claude-code:0192"}


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


def test_a_policy_may_take_such_rulings(
    agent: httpx.Client, reviewer: httpx.Client, project: Project
) -> None:
    make_policy("trusting", project=project, reviews={"rulings_from_agents": True})
    review = pause_at_once(agent, start_run(agent, policy="trusting"))

    assert rule_inside(reviewer, review, "approve").status_code == 200


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
