"""Calls come out the same when a run is judged again from its chain."""

from __future__ import annotations

import json

import httpx
import pytest

from accounts.models import Project
from guidance.core.policy import load_policy
from guidance.core.tools.judge_call import GATEWAY_VERSION
from ledger.models import Run
from ledger.verification.replay import replay_run
from tests.gateway.calls.calls import ask, claim, command, rule, settle, tool
from tests.support.builders import make_policy, start_run, step

pytestmark = pytest.mark.once("judges stored facts, not SQL")


def busy_run(agent: httpx.Client, reviewer: httpx.Client) -> Run:
    """A run with every kind of call and every way that a call can go."""
    run = start_run(agent, budget={"tool_calls": 6})
    approved, denied = command(agent, run), command(agent, run, "rm -rf src")
    rule(reviewer, approved, "approve", remember={"scope": "exact"})
    rule(reviewer, denied, "deny")
    claim(agent, run, approved)
    rule(reviewer, command(agent, run, "ls", confirm=True), "deny")
    settle(agent, run, approved, ok=False, tokens=5, duration_ms=7, cost_usd="0.01")
    command(agent, run)
    agent.post(f"/runs/{run}/steps", json=step(1, tool_calls=4))
    amended = tool(agent, run, "db", sql="DELETE FROM users")
    rule(reviewer, amended, "amend", amended={"arguments": {"sql": "SELECT 1"}})
    ask(agent, run, kind="tool", tool="Write", arguments_json="{")
    ask(agent, run, kind="edit", file_path="a", content="x\n" * 400)
    edits = [{"old": "a", "new": "b"}]
    ask(agent, run, kind="multi_edit", file_path="a", original="a", edits=edits)
    assert command(agent, run, "ls")["decision"] == "block"
    return Run.objects.get(code=run)


def test_a_run_with_calls_comes_out_the_same(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = busy_run(agent, reviewer)
    assert replay_run(run).difference is None
    agent.post(f"/runs/{run.code}/finish", json={"outcome": "completed"})
    assert replay_run(Run.objects.get(pk=run.pk)).difference is None


def test_a_stored_decision_names_its_rules_and_the_version_of_the_gates(
    agent: httpx.Client,
) -> None:
    run = start_run(agent)
    command(agent, run, "rm -rf src")
    command(agent, run, "checkrail approve 42")

    entries = Run.objects.get(code=run).entries.filter(type="call.judged")
    payloads = [json.loads(entry.payload) for entry in entries.order_by("seq")]
    assert {payload["engine"] for payload in payloads} == {GATEWAY_VERSION}
    assert [
        [(f["details"]["rule"], f["details"]["severity"]) for f in payload["findings"]]
        for payload in payloads
    ] == [[("delete-folder", "high")], [("guard-ruling", "critical")]]


def test_calls_that_older_gates_have_judged_are_left_as_they_were(
    agent: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = start_run(agent)
    command(agent, run, "rm -rf src")
    command(agent, run, "ls")
    stored = Run.objects.get(code=run)
    newer = load_policy({"tools": {"rules": {"*": "allow"}}})
    assert replay_run(stored, policy=newer).difference is not None

    monkeypatch.setattr("gateway.replay.GATEWAY_VERSION", GATEWAY_VERSION + 1)
    again = replay_run(stored, policy=newer)

    assert (again.difference, again.skipped) == (None, 2)


def test_another_policy_shows_the_first_call_that_would_be_judged_otherwise(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = busy_run(agent, reviewer)
    strict = load_policy({"tools": {"allowlist": {"enabled": True, "tools": []}}})
    difference = replay_run(run, policy=strict).difference
    assert difference is not None
    assert (difference.seq, difference.what) == (2, "decision")


def test_a_used_budget_that_was_tampered_with_is_noticed(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = busy_run(agent, reviewer)
    run.tool_calls_used = 0
    difference = replay_run(run).difference
    assert difference is not None
    assert difference.what == "the run's tool_calls_used"


def test_a_stored_result_answers_an_idempotent_call_and_replays(
    agent: httpx.Client, project: Project
) -> None:
    make_policy("reading", project=project, tools={"idempotent": ["Read*"]})
    run = start_run(agent, policy="reading")
    first = tool(agent, run, "ReadFile", path="a.py")
    settle(agent, run, first, output={"text": "x"})
    again = tool(agent, run, "ReadFile", path="a.py")
    assert (again["replayed"], again["output"]) == (True, {"text": "x"})
    assert again["id"] == first["id"]
    assert again["grant"] is None
    assert agent.get(f"/runs/{run}").json()["budget"]["tool_calls"]["used"] == 1
    assert replay_run(Run.objects.get(code=run)).difference is None


def test_repaired_arguments_replay_too(agent: httpx.Client, project: Project) -> None:
    make_policy("lenient", project=project, tools={"lenient_arguments": ["Write"]})
    run = start_run(agent, policy="lenient")
    call = ask(agent, run, kind="tool", tool="Write", arguments_json="{'path': 'a'}")
    assert call["decision"] == "warn"
    assert replay_run(Run.objects.get(code=run)).difference is None


def test_of_two_results_of_the_same_call_the_newer_one_answers(
    agent: httpx.Client, project: Project
) -> None:
    make_policy("reading", project=project, tools={"idempotent": ["Read*"]})
    run = start_run(agent, policy="reading")
    # Asked at once, before either of them has a result.
    calls = [tool(agent, run, "ReadFile", path="a.py") for _ in range(2)]
    for call, text in zip(calls, ("before", "after"), strict=True):
        settle(agent, run, call, output=text)

    again = tool(agent, run, "ReadFile", path="a.py")

    assert (again["replayed"], again["output"]) == (True, "after")
    assert again["id"] == calls[1]["id"]
