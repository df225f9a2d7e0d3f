"""Limits that an agent has of its own: the stricter of them and the policy's holds."""

from __future__ import annotations

import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from accounts.models import Agent, Project
from ledger.models import Entry
from tests.gateway.calls.calls import command
from tests.gateway.limits.test_tree_budgets import assert_replays, findings, report
from tests.support.builders import make_policy, make_robot, start_run

QUIET = {"tokens": 0, "tool_calls": 0}


def get_path(project: Project) -> str:
    return f"/agents/{Agent.objects.get(project=project, name='robo').code}"


def limit(admin: httpx.Client, project: Project, **limits: Any) -> dict[str, Any]:
    answer = admin.patch(get_path(project), json={"limits": limits})
    assert answer.status_code == 200, answer.text
    shown: dict[str, Any] = answer.json()["limits"]
    return shown


@pytest.mark.parametrize("of_policy", [None, 2_000, 500])
def test_the_stricter_of_its_own_and_the_policys_limit_holds(
    agent: httpx.Client,
    admin: httpx.Client,
    project: Project,
    of_policy: int | None,
) -> None:
    if of_policy:
        amounts = {"tokens": of_policy}
        make_policy("default", project=project, limits={"agent_day": amounts})
    runs = [start_run(agent) for _ in range(2)]
    shown = limit(admin, project, tokens=1_000)
    assert shown == {"tokens": 1_000, "tool_calls": None, "cost_usd": None}

    holds = min(of_policy or 1_000, 1_000)
    kept = report(agent, runs[0], 1, **{**QUIET, "tokens": holds - 1})
    passed = report(agent, runs[1], 1, **{**QUIET, "tokens": 1})

    message = f"This agent's tokens for today are used up: {holds:,} of {holds:,}"
    assert (kept["decision"], passed["decision"]) == ("continue", "stop")
    assert findings(passed) == {"limits": message}
    call = command(agent, runs[0], "ls")
    assert (call["decision"], findings(call)["limits"]) == ("block", message)
    assert_replays(*runs)


def test_a_limit_of_calls_means_as_many_calls_side_by_side(
    agent: httpx.Client, admin: httpx.Client, project: Project
) -> None:
    limit(admin, project, tool_calls=5)
    runs = [start_run(agent) for _ in range(4)]
    with ThreadPoolExecutor(8) as pool:
        calls = list(pool.map(lambda n: command(agent, runs[n % 4], "ls"), range(12)))
    assert Counter(call["decision"] for call in calls) == {"allow": 5, "block": 7}


def test_it_holds_for_runs_in_progress_and_ends_when_it_is_taken_away(
    agent: httpx.Client, admin: httpx.Client, project: Project
) -> None:
    run = start_run(agent)
    assert report(agent, run, 1, **{**QUIET, "tokens": 90})["decision"] == "continue"
    limit(admin, project, tokens=100, cost_usd="5")
    assert report(agent, run, 2, **{**QUIET, "tokens": 1})["decision"] == "continue"
    noticed = Entry.objects.get(run__code=run, type="limit.noticed")
    assert json.loads(noticed.payload)["percent"] == 90
    answer = admin.patch(get_path(project), json={"limits": None})
    assert answer.json()["limits"] is None
    assert report(agent, run, 3, **{**QUIET, "tokens": 50})["decision"] == "continue"


def test_what_is_used_of_it_is_shown_and_a_manager_gives_more_for_the_day(
    agent: httpx.Client, admin: httpx.Client, manager: httpx.Client, project: Project
) -> None:
    limit(admin, project, tokens=100)
    run = start_run(agent)
    report(agent, run, 1, **{**QUIET, "tokens": 90})
    (use,) = [each for each in manager.get("/limits").json()["items"] if each["agent"]]
    assert (use["policy"], use["own"], use["tokens"]["limit"]) == (None, True, 100)
    wanted = {"scope": "agent_day", "agent": "robo", "reason": "Release"}
    refused = manager.post("/limits/raise", json={**wanted, "tool_calls": 5})
    raised = manager.post("/limits/raise", json={**wanted, "tokens": 50})
    assert (refused.status_code, raised.status_code) == (422, 200)
    assert report(agent, run, 2, **{**QUIET, "tokens": 30})["decision"] == "continue"


@pytest.mark.parametrize(
    "limits",
    [{"tokens": 0}, {"cost_usd": "0.00"}, {"cost_usd": 5}, {"time_ms": 5}, "none"],
)
def test_a_limit_that_makes_no_sense_is_refused(
    admin: httpx.Client, project: Project, limits: Any
) -> None:
    make_robot(project=project)
    answer = admin.patch(get_path(project), json={"limits": limits})
    assert answer.status_code == 422
    assert Agent.objects.get(project=project, name="robo").tokens_limit is None
