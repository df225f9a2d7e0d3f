"""A halt stands whatever is lost beside the database: Redis, or the server itself."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
import redis
from django.db import connection

from tests.conftest import client_for
from tests.reviews.halts.halting import halt, release
from tests.runner.servers import own_redis
from tests.support.builders import Person, Robot, pause_at_once, start_run, step
from tests.support.live import Live
from tests.support.people import rule
from tests.support.problems import problem
from tests.support.processes import another_web_process, manage, up
from tests.support.waiting import until

pytestmark = pytest.mark.timeout(240)


def test_an_emptied_redis_releases_nobody(
    tmp_path: Path, robo: Robot, alice: Person
) -> None:
    """Agents wait at one process, people act at another; the Redis of both is emptied."""
    if connection.vendor != "postgresql":
        pytest.skip("Redis is used with PostgreSQL alone.")
    with (
        own_redis(tmp_path) as server,
        redis.Redis.from_url(server.url) as store,
        another_web_process(variables={"REDIS_URL": server.url}) as here,
        another_web_process(variables={"REDIS_URL": server.url}) as there,
        client_for(here.live, alice) as manager,
        client_for(here.live, robo) as elsewhere,
        client_for(there.live, robo) as agent,
        ThreadPoolExecutor(max_workers=1) as pool,
    ):
        agent.timeout = 60
        run = start_run(agent)
        review = pause_at_once(agent, run)
        path = f"/runs/{run}/decision?wait=50&review={review}"
        parked = pool.submit(agent.get, path)
        until(lambda: is_waited_for(manager, review), seconds=60)
        store.flushall()
        made = halt(manager)
        problem(parked.result(timeout=60), "halted")
        rule(manager, review, "approve")
        parked = pool.submit(agent.get, path)
        store.flushall()
        for client in (agent, elsewhere):
            problem(client.post("/runs", json={"task": "No"}), "halted")
            problem(client.post(f"/runs/{run}/steps", json=step(2)), "halted")
        assert not parked.done()
        release(manager, made)
        assert parked.result(timeout=60).json()["ruling"]["action"] == "approve"
        assert agent.post(f"/runs/{run}/steps", json=step(2)).status_code == 201


def is_waited_for(client: httpx.Client, review: str) -> bool:
    waiting = client.get(f"/reviews/{review}").json()["waiting"]
    return bool(waiting and waiting["now"])


def test_a_server_that_is_started_again_still_halts(tmp_path: Path) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("`manage.py up` is one process on SQLite.")
    with up(tmp_path) as server:
        key = make(tmp_path, "agent_key", "robo")["key"]
        token = make(tmp_path, "user_add", "alice", "--role", "manager")["token"]
        with connect(server.live, key) as agent, connect(server.live, token) as manager:
            run = start_run(agent)
            review = pause_at_once(agent, run)
            made = halt(manager)
        server.kill()
    with (
        up(tmp_path) as server,
        connect(server.live, key) as agent,
        connect(server.live, token) as manager,
        ThreadPoolExecutor(max_workers=1) as pool,
    ):
        told = problem(agent.post("/runs", json={"task": "No"}), "halted")
        assert told["halt"]["id"] == made["id"]
        rule(manager, review, "approve")
        problem(agent.post(f"/runs/{run}/steps", json=step(2)), "halted")
        path = f"/runs/{run}/decision?wait=50&review={review}"
        parked = pool.submit(agent.get, path)
        release(manager, made)
        assert parked.result(timeout=60).json()["ruling"]["action"] == "approve"
        assert agent.post(f"/runs/{run}/steps", json=step(2)).status_code == 201
    verified = manage("ledger_verify", CHECKRAIL_DATA=str(tmp_path))
    assert verified.returncode == 0, verified.stdout


def make(data: Path, command: str, name: str, *more: str) -> dict[str, Any]:
    arguments = (command, name, *more, "--project", "p", "--json")
    done = manage(*arguments, CHECKRAIL_DATA=str(data))
    made: dict[str, Any] = json.loads(done.stdout)
    return made


def connect(live: Live, secret: str) -> httpx.Client:
    headers = {"Authorization": f"Bearer {secret}"}
    return httpx.Client(base_url=live.api, headers=headers, timeout=60, trust_env=False)
