"""A plan whose time is over, and one under which the policy changes."""

from __future__ import annotations

import json
import time
from typing import Any

import httpx
import pytest

from ledger.models import Run
from ledger.verification.replay import replay_run
from ledger.verification.verify import verify_run_and_rows
from tests.gateway.calls.calls import claim, command
from tests.gateway.plans.planning import (
    approve,
    bash,
    build_plan,
    build_step,
    get_plan_finding,
    list_plans,
)
from tests.reviews.policies.test_moves import move_runs
from tests.support.builders import start_run, step

PLAN = build_plan(
    build_step(bash("rm -rf build-1", shape="shape", count=5), purpose="Old builds"),
    build_step(bash("git push --force origin topic", count=5), purpose="Publish"),
)
SHORT = {**PLAN, "limits": {"time_ms": 1_000}}


def wait_for_end(agent: httpx.Client, run: str) -> dict[str, Any]:
    """Until the server says that the time is over; returns the plan as it says it."""
    deadline = time.monotonic() + 30
    while (plan := list_plans(agent, run)[0])["state"] == "standing":
        assert time.monotonic() < deadline, "Its time is never over."
        time.sleep(0.1)
    return plan


def read_entries(agent: httpx.Client, run: str) -> list[dict[str, Any]]:
    lines = agent.get(f"/runs/{run}/ledger").text.splitlines()
    return [json.loads(line) for line in lines]


def assert_sound(run: str) -> None:
    row = Run.objects.get(code=run)
    assert replay_run(row).difference is None
    assert verify_run_and_rows(row).ok


def test_its_time_is_over_before_anything_is_called(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    approve(agent, reviewer, run, SHORT)

    over = wait_for_end(agent, run)

    assert (over["state"], over["ended_at"]) == ("time", over["ends_at"])
    assert [each["left"] for each in over["steps"]] == [0, 0]
    assert "plan.ended" not in {it["type"] for it in read_entries(agent, run)}
    # A step changes nothing of it; the next call writes down that it has ended.
    assert agent.post(f"/runs/{run}/steps", json=step(1)).status_code == 201
    assert command(agent, run, "ls")["decision"] == "allow"
    ended = read_entries(agent, run)[-1]
    assert (ended["type"], ended["payload"]["reason"]) == ("plan.ended", "time")
    assert list_plans(agent, run)[0]["state"] == "time"
    asked = command(agent, run, "rm -rf build-1")
    assert asked["decision"] == "require-confirmation"
    assert "plan" not in {finding["gate"] for finding in asked["findings"]}
    assert_sound(run)


def test_its_time_is_over_at_a_call_that_it_names(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    approve(agent, reviewer, run, SHORT)
    served = command(agent, run, "rm -rf build-1")
    assert served["decision"] == "allow"
    wait_for_end(agent, run)

    late = command(agent, run, "rm -rf build-2")

    assert (late["decision"], late["grant"]) == ("require-confirmation", None)
    assert get_plan_finding(late)["message"] == "Outside the plan: its time is over"
    (plan,) = list_plans(agent, run)
    assert (plan["state"], plan["calls_outside"]) == ("time", 1)
    assert (plan["steps"][0]["used"], plan["steps"][0]["left"]) == (1, 0)
    types = [entry["type"] for entry in read_entries(agent, run)]
    assert types.count("plan.ended") == 1
    assert types.index("plan.ended") > types.index("call.judged")
    # What was granted in time has the time of every grant.
    assert claim(agent, run, served).status_code == 200
    assert_sound(run)


def activate(manager: httpx.Client, document: dict[str, Any]) -> None:
    body = {"document": document, "activate": True, "apply_to_running": True}
    answer = manager.post("/policies/default/versions", json=body)
    assert answer.status_code == 201, answer.text


@pytest.mark.parametrize(
    ("document", "text", "decision", "told"),
    [
        (
            {"tools": {"rules": {"delete-folder": "block"}}},
            "rm -rf build-1",
            "block",
            None,
        ),
        (
            {"reviews": {"severity": {"rules": {"delete-folder": "critical"}}}},
            "rm -rf build-2",
            "require-confirmation",
            "delete-folder is asked about unless the plan names the very call",
        ),
        (
            {"reviews": {"severity": {"rules": {"delete-folder": "critical"}}}},
            "rm -rf build-1",
            "allow",
            "Step 1 of the approved plan",
        ),
        (
            {"tools": {"confirm": ["Bash"]}},
            "git push --force origin topic",
            "require-confirmation",
            "nobody was asked about confirm in step 2",
        ),
        (
            {"tools": {"rules": {"delete-folder": "allow"}}},
            "rm -rf build-2",
            "allow",
            "Step 1 of the approved plan",
        ),
    ],
)
def test_another_version_of_the_policy_is_obeyed_while_it_stands(
    agent: httpx.Client,
    reviewer: httpx.Client,
    manager: httpx.Client,
    document: dict[str, Any],
    text: str,
    decision: str,
    told: str | None,
) -> None:
    """What a person approved was judged by the version of that day."""
    run = start_run(agent)
    approve(agent, reviewer, run, PLAN)
    assert command(agent, run, "rm -rf build-3")["decision"] == "allow"
    activate(manager, document)

    answer = command(agent, run, text)

    assert answer["policy"]["version"] == 2
    assert answer["decision"] == decision
    assert (answer["grant"] is not None) == (decision == "allow")
    said = [it["message"] for it in answer["findings"] if it["gate"] == "plan"]
    assert told in said[0] if told else not said
    assert list_plans(agent, run)[0]["state"] == "standing"
    assert_sound(run)


def test_a_plan_that_waited_is_followed_under_the_version_of_the_calls(
    agent: httpx.Client,
    reviewer: httpx.Client,
    manager: httpx.Client,
) -> None:
    run = start_run(agent)
    review = agent.post(f"/runs/{run}/plans", json=PLAN).json()
    activate(manager, {"tools": {"rules": {"git-push-force": "block"}}})
    shown = reviewer.get(f"/reviews/{review['id']}").json()
    seen = {name: shown[name] for name in ("version", "content_digest")}
    ruling = {"action": "approve", **seen}
    path = f"/reviews/{review['id']}/ruling"
    assert reviewer.post(path, json=ruling).status_code == 200
    assert move_runs(run) == 1
    pushed = command(agent, run, "git push --force origin topic")
    assert (pushed["decision"], pushed["grant"]) == ("block", None)
    assert command(agent, run, "rm -rf build-2")["decision"] == "allow"
    assert_sound(run)
