"""Many at once: limits hold exactly, and a grant is spent once."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import httpx

from tests.conftest import client_for
from tests.gateway.calls.calls import claim, command, rule
from tests.support.builders import Robot, start_run
from tests.support.live import Live

LIMIT = 10


def test_a_limit_of_n_lets_exactly_n_of_4n_parallel_calls_through(
    live: Live, robo: Robot, agent: httpx.Client
) -> None:
    run = start_run(agent, budget={"tool_calls": LIMIT})

    def one(number: int) -> str:
        with client_for(live, robo) as client:
            decision: str = command(client, run, f"ls {number}")["decision"]
            return decision

    with ThreadPoolExecutor(max_workers=4 * LIMIT) as pool:
        decisions = Counter(pool.map(one, range(4 * LIMIT)))
    assert decisions == {"allow": LIMIT, "block": 3 * LIMIT}
    budget = agent.get(f"/runs/{run}").json()["budget"]["tool_calls"]
    assert (budget["used"], budget["remaining"]) == (LIMIT, 0)


def test_waiting_calls_keep_their_place_in_the_budget(
    live: Live, robo: Robot, agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent, budget={"tool_calls": 3})
    waiting = [command(agent, run, f"rm -rf build-{number}") for number in range(3)]
    assert command(agent, run, "ls")["decision"] == "block"
    rule(reviewer, waiting[0], "deny")
    assert command(agent, run, "ls")["decision"] == "allow"
    rule(reviewer, waiting[1], "approve")
    rule(reviewer, waiting[2], "approve")
    assert command(agent, run, "ls")["decision"] == "block"
    assert agent.get(f"/runs/{run}").json()["budget"]["tool_calls"]["used"] == 3


def test_a_grant_is_spent_once_among_eight_parallel_claims(
    live: Live, robo: Robot, agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    call = command(agent, run)
    rule(reviewer, call, "approve")

    def one(_: int) -> int:
        with client_for(live, robo) as client:
            return claim(client, run, call).status_code

    with ThreadPoolExecutor(max_workers=8) as pool:
        assert Counter(pool.map(one, range(8))) == {200: 1, 409: 7}


def test_the_last_use_of_a_permission_serves_one_of_eight_runs(
    live: Live, robo: Robot, agent: httpx.Client, reviewer: httpx.Client
) -> None:
    first = command(agent, start_run(agent))
    rule(reviewer, first, "approve", remember={"scope": "exact", "uses": 1})
    runs = [start_run(agent) for _ in range(8)]

    def one(run: str) -> str:
        with client_for(live, robo) as client:
            decision: str = command(client, run)["decision"]
            return decision

    with ThreadPoolExecutor(max_workers=8) as pool:
        decisions = Counter(pool.map(one, runs))
    assert decisions == {"allow": 1, "require-confirmation": 7}
