"""A swarm shares its limits exactly: N calls are N, whoever asks, in whichever process."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle

import httpx
import pytest
from django.db import connection

from accounts.models import Project
from gateway.use_cases.tool_calls import submit_call
from guidance.core.tools.calls import CommandCall
from ledger.models import Run, SharedUse
from ledger.writer import Writer
from tests.conftest import client_for
from tests.gateway.calls.calls import command
from tests.gateway.limits.test_tree_budgets import report
from tests.support.builders import Robot, make_policy, start_run
from tests.support.examples import part
from tests.support.live import Live
from tests.support.processes import another_web_process

LIMIT = 12
CHILDREN = 8
ROUNDS = part(20, least=4)


def start_children(agent: httpx.Client, **budget: int) -> tuple[str, list[str]]:
    parent = start_run(agent, budget=budget)
    return parent, [start_run(agent, parent_run=parent) for _ in range(CHILDREN)]


def count_below(parent: str) -> SharedUse:
    run = Run.objects.get(code=parent)
    return SharedUse.objects.get(scope="run", owner=run.pk)


def test_of_4n_calls_by_eight_children_and_two_writers_exactly_n_run(
    agent: httpx.Client, robo: Robot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each writer has a thread and a connection of its own, as a process has."""
    writers = (Writer(), Writer())
    turns = cycle(writers)
    monkeypatch.setattr("gateway.use_cases.tool_calls.get_writer", lambda: next(turns))
    principal = robo.principal

    async def ask_all(children: list[str]) -> list[str]:
        replies = await asyncio.gather(
            *(
                submit_call(
                    agent=principal,
                    run_code=children[number % CHILDREN],
                    call=CommandCall(tool="Bash", command=f"ls {number}"),
                )
                for number in range(4 * LIMIT)
            )
        )
        return [json.loads(reply.body)["decision"] for reply in replies]

    try:
        for _ in range(ROUNDS):
            parent, children = start_children(agent, tool_calls=LIMIT)
            decisions = Counter(asyncio.run(ask_all(children)))
            assert decisions == {"allow": LIMIT, "block": 3 * LIMIT}
            assert count_below(parent).tool_calls == LIMIT
    finally:
        for writer in writers:
            writer.close()


@pytest.fixture
def servers(live: Live) -> Iterator[list[Live]]:
    """One process on SQLite, two on PostgreSQL."""
    if connection.vendor == "sqlite":
        yield [live]
        return
    with another_web_process() as process:
        yield [live, process.live]


def test_of_4n_calls_by_eight_children_over_all_processes_exactly_n_run(
    servers: list[Live], agent: httpx.Client, robo: Robot
) -> None:
    clients = [client_for(place, robo) for place in servers * 8]
    with ThreadPoolExecutor(len(clients)) as pool:
        for _ in range(ROUNDS):
            parent, children = start_children(agent, tool_calls=LIMIT)
            asked = [
                pool.submit(
                    command,
                    clients[number % len(clients)],
                    children[number % CHILDREN],
                    f"ls {number}",
                )
                for number in range(4 * LIMIT)
            ]
            decisions = Counter(each.result()["decision"] for each in asked)
            assert decisions == {"allow": LIMIT, "block": 3 * LIMIT}
            assert count_below(parent).tool_calls == LIMIT
    for client in clients:
        client.close()


def test_calls_of_an_agents_day_are_exact_over_all_its_runs(
    live: Live, agent: httpx.Client, robo: Robot, project: Project
) -> None:
    limits = {"agent_day": {"tool_calls": LIMIT}}
    make_policy("default", project=project, limits=limits)
    runs = [start_run(agent) for _ in range(CHILDREN)]

    def ask(number: int) -> str:
        with client_for(live, robo) as client:
            decision: str = command(client, runs[number % CHILDREN], "ls")["decision"]
            return decision

    with ThreadPoolExecutor(4 * LIMIT) as pool:
        decisions = Counter(pool.map(ask, range(4 * LIMIT)))
    assert decisions == {"allow": LIMIT, "block": 3 * LIMIT}


def test_steps_pass_a_limit_by_at_most_those_in_flight(
    live: Live, agent: httpx.Client, robo: Robot
) -> None:
    parent, children = start_children(agent, tokens=1_000)

    def work(child: str) -> int:
        """How many tokens were let go on before the child was stopped."""
        with client_for(live, robo) as client:
            for number in range(1, 200):
                if report(client, child, number, tokens=10)["decision"] == "stop":
                    return 10 * (number - 1)
        raise AssertionError("It was not stopped.")

    with ThreadPoolExecutor(CHILDREN) as pool:
        let_through = sum(pool.map(work, children))
    # One step of each child may have been on its way when the limit was reached, and
    # what each was stopped by is counted as well.
    assert 1_000 - 10 * CHILDREN <= let_through < 1_000 + 10 * CHILDREN
    assert count_below(parent).tokens == let_through + 10 * CHILDREN
