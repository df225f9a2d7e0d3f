"""Calls that need a person whatever is in them: by the policy, or by their agent's wish."""

from __future__ import annotations

import httpx
import pytest

from accounts.models import Project
from tests.gateway.calls.calls import claim, command, gates, rule, tool
from tests.support.builders import make_policy, start_run

pytestmark = pytest.mark.once("judges calls, not SQL")


def test_a_call_waits_for_a_person_where_its_agent_wants_one(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    call = command(agent, run, "ls", confirm=True)
    assert (call["decision"], gates(call)) == ("require-confirmation", ["confirm"])
    assert call["digest"] == command(agent, run, "ls", confirm=False)["digest"]
    kept = reviewer.get(f"/reviews/{call['review']['id']}").json()["content"]
    assert (kept["shown"], kept["permittable"]) == ({"command": "ls"}, False)
    title = reviewer.get(f"/reviews/{call['review']['id']}").json()["title"]
    assert title == "ls: The agent asks for a person to look at this call"
    assert rule(reviewer, call, "approve").status_code == 200
    assert claim(agent, run, call).json()["call"] == {"command": "ls"}
    for wrong in ("yes", 1, None):
        body = {"kind": "command", "command": "ls", "confirm": wrong}
        assert agent.post(f"/runs/{run}/tool-calls", json=body).status_code == 422


def test_a_tool_that_always_needs_a_person_is_asked_about_every_time(
    agent: httpx.Client, reviewer: httpx.Client, project: Project
) -> None:
    make_policy("careful", project=project, tools={"confirm": ["deploy*"]})
    run = start_run(agent, policy="careful")
    first = tool(agent, run, "deploy_web", to="staging")
    assert gates(first) == ["confirm"]
    refused = rule(reviewer, first, "approve", remember={"scope": "exact"})
    assert refused.status_code == 422, refused.text
    assert rule(reviewer, first, "approve").status_code == 200
    assert tool(agent, run, "deploy_web", to="staging")["review"] is not None
    assert tool(agent, run, "status", of="staging")["decision"] == "allow"
