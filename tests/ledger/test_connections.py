"""Database connections come back: no door keeps one of its own after its answer."""

from __future__ import annotations

import httpx
import pytest
from django.db import connection

from ledger.writer.db_threads import THREADS
from tests.support.builders import pause_at_once, start_run, step
from tests.support.people import rule
from tests.support.threads import Threads
from tests.support.waiting import until

# The writer's own, those of the reading threads, and that of the thread that runs this
# test: a number that does not grow with the requests.
KEPT = 2 + THREADS


def test_no_door_keeps_a_connection(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has no pool to exhaust.")
    run = start_run(agent)
    review = pause_at_once(agent, run)
    before = _count_taken()
    calls = [
        lambda: agent.post(f"/runs/{run}/steps", json=step(1, uncertainty=0.95)),
        lambda: agent.post(f"/runs/{run}/steps", json=step(1)),
        lambda: agent.get(f"/runs/{run}/decision"),
        lambda: agent.get(f"/runs/{run}/ledger"),
        lambda: agent.get(f"/runs/{run}/verify"),
        lambda: agent.get("/runs"),
        lambda: agent.post("/evaluate/continue", json={"step_number": 1}),
        lambda: reviewer.get(f"/reviews/{review}"),
        lambda: reviewer.post(f"/reviews/{review}/comments", json={"text": "x"}),
    ]

    with Threads(16) as pool:
        answers = list(pool.map(lambda call: call(), calls * 12))
    rule(reviewer, review, "approve")

    assert {answer.status_code for answer in answers} == {200, 201, 409}
    until(lambda: _count_taken() <= max(KEPT, before))


def _count_taken() -> int:
    stats = connection.pool.get_stats()  # type: ignore[attr-defined]
    taken: int = stats["pool_size"] - stats["pool_available"]
    return taken
