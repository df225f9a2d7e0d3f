"""Limits of an agent a day, and of a project a day and a month."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from accounts.models import Project
from ledger.models import Entry, Run
from tests.conftest import client_for
from tests.gateway.calls.calls import command
from tests.gateway.limits.test_tree_budgets import assert_replays, findings, report
from tests.support.browsing import open_browser
from tests.support.builders import Person, make_policy, make_robot, start_run
from tests.support.live import Live


@pytest.mark.parametrize(
    ("limits", "told", "message"),
    [
        (
            {"agent_day": {"tokens": 1_000}},
            {"tokens": 600},
            "This agent's tokens for today are used up: 1,200 of 1,000",
        ),
        (
            {"project_day": {"cost_usd": "1.00"}},
            {"cost_usd": "0.50"},
            "The project's cost for today is used up: 1.00 of 1.00 USD",
        ),
        (
            {"project_month": {"tool_calls": 5}},
            {"tool_calls": 3},
            "The project's tool calls for this month are used up: 6 of 5",
        ),
    ],
)
def test_the_run_that_passes_a_limit_is_stopped_and_others_at_their_next_step(
    agent: httpx.Client,
    project: Project,
    limits: dict[str, Any],
    told: dict[str, Any],
    message: str,
) -> None:
    make_policy("default", project=project, limits=limits)
    runs = [start_run(agent) for _ in range(3)]
    quiet = {"tokens": 0, "tool_calls": 0}

    assert report(agent, runs[0], 1, **{**quiet, **told})["decision"] == "continue"
    passed = report(agent, runs[1], 1, **{**quiet, **told})
    other = report(agent, runs[2], 1, **quiet)

    assert passed["decision"] == "stop"
    assert findings(passed) == {"limits": message}
    assert (other["decision"], findings(other)) == ("stop", findings(passed))
    call = command(agent, runs[0], "ls")
    assert (call["decision"], findings(call)["limits"]) == ("block", message)
    assert_replays(*runs)


def test_an_agents_limit_is_not_another_agents(
    live: Live, agent: httpx.Client, project: Project
) -> None:
    make_policy("default", project=project, limits={"agent_day": {"tokens": 1_000}})
    assert report(agent, start_run(agent), 1, tokens=1_000)["decision"] == "stop"
    with client_for(live, make_robot("other", project=project)) as other:
        decision = report(other, start_run(other), 1, tokens=999)
        assert decision["decision"] == "continue"


def test_notices_are_written_once_at_75_90_and_95_percent(
    agent: httpx.Client, project: Project
) -> None:
    make_policy("default", project=project, limits={"agent_day": {"tokens": 100}})
    runs = [start_run(agent) for _ in range(2)]
    for number, tokens in enumerate((74, 1, 1, 14, 5, 0), 1):
        for run in runs:
            spent = tokens if run == runs[number % 2] else 0
            assert report(agent, run, number, tokens=spent)["decision"] == "continue"

    entries = Entry.objects.filter(run__code__in=runs, type="limit.noticed")
    told = [json.loads(entry.payload) for entry in entries.order_by("position")]
    assert [each["percent"] for each in told] == [75, 90, 95]
    assert [each["used"] for each in told] == [75, 90, 95]
    assert told[0] == {
        "scope": "agent_day",
        "part": "tokens",
        "limit": 100,
        "used": 75,
        "percent": 75,
    }
    assert_replays(*runs)


def test_the_page_of_a_run_tells_of_a_notice(
    agent: httpx.Client, project: Project, alice: Person
) -> None:
    make_policy("default", project=project, limits={"project_day": {"cost_usd": "1"}})
    run = start_run(agent)
    report(agent, run, 1, cost_usd="0.80")
    page = open_browser(alice.user).get(f"/p/{project.slug}/runs/{run}/")
    for words in (
        "75 % of a limit used",
        "The project&#x27;s cost for today: 0.80 of 1.00 USD used",
    ):
        assert words in page.content.decode()


def test_steps_of_one_batch_tell_each_mark_once(
    agent: httpx.Client, project: Project
) -> None:
    make_policy("default", project=project, limits={"project_day": {"tokens": 100}})
    run = start_run(agent)
    steps = [{"number": n, "tokens": 10, "tool_calls": 0} for n in range(1, 13)]
    answer = agent.post(f"/runs/{run}/steps/batch", json={"steps": steps}).json()

    assert answer["accepted"] == 10
    assert answer["decisions"][-1]["decision"] == "stop"
    entries = Entry.objects.filter(run__code=run, type="limit.noticed").order_by("seq")
    percents = [json.loads(entry.payload)["percent"] for entry in entries]
    assert percents == [75, 90]
    assert Run.objects.get(code=run).status == "stopped"
    assert_replays(run)
