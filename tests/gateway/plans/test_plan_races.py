"""Many calls at once, over all processes: a plan is never used once too often."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from django.db import connection

from ledger.models import Run
from ledger.verification.replay import replay_run
from ledger.verification.verify import verify_run_and_rows
from tests.conftest import client_for
from tests.gateway.calls.calls import command
from tests.gateway.plans.planning import (
    approve,
    bash,
    build_plan,
    build_step,
    list_plans,
)
from tests.support.builders import Robot, start_run
from tests.support.live import Live
from tests.support.processes import another_web_process

CALLS = 12


@pytest.fixture
def servers(live: Live) -> Iterator[list[Live]]:
    """One process on SQLite, two on PostgreSQL."""
    if connection.vendor == "sqlite":
        yield [live]
        return
    with another_web_process() as process:
        yield [live, process.live]


@pytest.mark.parametrize(
    ("count", "limit", "state"), [(1, 1, "used"), (3, 3, "used"), (9, 3, "calls")]
)
def test_the_last_count_serves_one(
    servers: list[Live],
    robo: Robot,
    agent: httpx.Client,
    reviewer: httpx.Client,
    count: int,
    limit: int,
    state: str,
) -> None:
    run = start_run(agent)
    planned = build_step(bash("rm -rf build", count=count))
    approve(agent, reviewer, run, build_plan(planned, tool_calls=limit))

    def ask(number: int) -> str:
        with client_for(servers[number % len(servers)], robo) as client:
            decision: str = command(client, run, "rm -rf build")["decision"]
            return decision

    with ThreadPoolExecutor(max_workers=CALLS) as pool:
        decisions = Counter(pool.map(ask, range(CALLS)))

    assert decisions == {"allow": limit, "require-confirmation": CALLS - limit}
    (plan,) = list_plans(agent, run)
    assert (plan["state"], plan["steps"][0]["used"]) == (state, limit)
    row = Run.objects.get(code=run)
    assert replay_run(row).difference is None
    assert verify_run_and_rows(row).ok
