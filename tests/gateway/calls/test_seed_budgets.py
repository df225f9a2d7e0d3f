"""Rows GW-20 to GW-32, GW-39, GW-41 and GW-42: the budget of a run's calls.

Answered otherwise than by the reference:
- GW-25: there is no budget for storage; bodies are limited by size instead.
- GW-27: a call counts from its grant on, so that a limit of N means exactly N.
- GW-30: tokens have no fixed price; the cost is what the agent tells.
- GW-31: nothing sets the figures back to zero; a manager reopens a stopped run with
  larger limits, and what was used stays used.
"""

from __future__ import annotations

import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from accounts.models import Project
from tests.conftest import client_for
from tests.gateway.calls.calls import command, gates, settle
from tests.support.builders import Robot, make_policy, start_run, step
from tests.support.live import Live
from tests.support.problems import fields, problem

pytestmark = pytest.mark.once("judges calls, not SQL")


def budget(agent: httpx.Client, run: str) -> dict[str, Any]:
    parts: dict[str, Any] = agent.get(f"/runs/{run}").json()["budget"]
    return parts


def test_gw_20_within_the_budget_with_figures(agent: httpx.Client) -> None:
    run = start_run(
        agent,
        budget={
            "tokens": 100,
            "tool_calls": 3,
            "time_ms": 60_000,
            "cost_usd": "1.50",
        },
    )
    call = command(agent, run, "ls")
    assert call["decision"] == "allow"
    # Time passes by itself.
    assert 0 < call["budget_remaining"].pop("time_ms") <= 60_000
    assert call["budget_remaining"] == {
        "tokens": 100,
        "tool_calls": 2,
        "cost_usd": "1.50",
    }


@pytest.mark.parametrize(
    ("limit", "told", "named"),
    [
        pytest.param({"tool_calls": 1}, {}, "tool_calls", id="GW-21"),
        pytest.param({"tokens": 100}, {"tokens": 100}, "tokens", id="GW-22"),
        pytest.param(
            {"time_ms": 60_000}, {"duration_ms": 60_001}, "time_ms", id="GW-23"
        ),
        pytest.param({"cost_usd": "0.5"}, {"cost_usd": "0.5"}, "cost_usd", id="GW-24"),
    ],
)
def test_whatever_is_used_up_denies_and_is_named(
    agent: httpx.Client, limit: dict[str, Any], told: dict[str, Any], named: str
) -> None:
    run = start_run(agent, budget=limit)
    settle(agent, run, command(agent, run, "ls"), **told)
    over = command(agent, run, "pwd")
    assert (over["decision"], gates(over)) == ("block", ["budget"])
    (finding,) = over["findings"]
    assert finding["details"]["used_up"] == [named]
    assert named in finding["message"]
    assert over["grant"] is None


def test_gw_25_there_is_no_budget_for_storage(agent: httpx.Client) -> None:
    answer = agent.post("/runs", json={"task": "t", "budget": {"storage": 1}})
    assert fields(problem(answer, "invalid")) == ["budget.storage"]


def test_gw_26_no_budget_is_unlimited(agent: httpx.Client, project: Project) -> None:
    parts = ("tokens", "tool_calls", "time_ms", "cost_usd")
    make_policy("unlimited", project=project, budget=dict.fromkeys(parts))
    run = start_run(agent, policy="unlimited")
    settle(agent, run, command(agent, run, "ls"), tokens=10**9, duration_ms=10**9)
    call = command(agent, run, "ls")
    assert call["decision"] == "allow"
    assert call["budget_remaining"] == dict.fromkeys(parts)


def test_gw_27_a_call_counts_once_from_its_grant_on(agent: httpx.Client) -> None:
    run = start_run(agent)
    call = command(agent, run, "ls")
    assert budget(agent, run)["tool_calls"]["used"] == 1
    settle(agent, run, call)
    settle(agent, run, call)
    assert budget(agent, run)["tool_calls"]["used"] == 1


def test_gw_28_to_30_what_results_tell_is_added_up(agent: httpx.Client) -> None:
    run = start_run(agent)
    settle(agent, run, command(agent, run, "a"), duration_ms=100_000, tokens=1000)
    settle(agent, run, command(agent, run, "b"), duration_ms=200_000, tokens=200)
    assert budget(agent, run)["cost_usd"]["used"] == "0.00"
    settle(agent, run, command(agent, run, "c"), cost_usd="0.003")
    parts = budget(agent, run)
    assert parts["time_ms"]["used"] == 300_000
    assert parts["tokens"]["used"] == 1200
    assert parts["cost_usd"]["used"] == "0.003"


def test_gw_31_a_manager_gives_more_and_what_was_used_stays_used(
    agent: httpx.Client, manager: httpx.Client
) -> None:
    run = start_run(agent, budget={"tool_calls": 1})
    command(agent, run, "ls")
    assert command(agent, run, "ls")["decision"] == "block"
    told = agent.post(f"/runs/{run}/steps", json=step(1)).json()
    assert told["decision"] == "stop"
    more = {"budget": {"tool_calls": 2}, "reason": "go on"}
    assert manager.post(f"/runs/{run}/reopen", json=more).status_code == 200
    assert command(agent, run, "ls")["decision"] == "allow"
    parts = budget(agent, run)["tool_calls"]
    assert (parts["limit"], parts["used"], parts["remaining"]) == (2, 2, 0)


def test_gw_32_and_41_a_limit_of_two_is_exactly_two(agent: httpx.Client) -> None:
    run = start_run(agent, budget={"tool_calls": 2})
    decisions = [command(agent, run, "ls")["decision"] for _ in range(4)]
    assert decisions == ["allow", "allow", "block", "block"]
    assert budget(agent, run)["tool_calls"]["used"] == 2


def test_gw_41_a_limit_of_none_is_none(agent: httpx.Client) -> None:
    run = start_run(agent, budget={"tool_calls": 0})
    assert command(agent, run, "ls")["decision"] == "block"


def test_gw_39_figures_once_told_do_not_change(agent: httpx.Client) -> None:
    run = start_run(agent, budget={"tool_calls": 5})
    key = {"Idempotency-Key": "first"}
    body = {"kind": "command", "command": "ls"}
    first = agent.post(f"/runs/{run}/tool-calls", json=body, headers=key)
    command(agent, run, "pwd")
    again = agent.post(f"/runs/{run}/tool-calls", json=body, headers=key)
    assert again.json()["budget_remaining"]["tool_calls"] == 4
    assert again.content == first.content
    lines = agent.get(f"/runs/{run}/ledger").text.splitlines()
    stored = json.loads(lines[1])["payload"]["budget_remaining"]
    assert stored == first.json()["budget_remaining"]


def test_gw_42_five_at_once_on_a_limit_of_two(
    live: Live, robo: Robot, agent: httpx.Client
) -> None:
    run = start_run(agent, budget={"tool_calls": 2})

    def one(number: int) -> str:
        with client_for(live, robo) as client:
            decision: str = command(client, run, f"ls {number}")["decision"]
            return decision

    with ThreadPoolExecutor(max_workers=5) as pool:
        assert Counter(pool.map(one, range(5))) == {"allow": 2, "block": 3}
