"""Steps, calls and claims race with a halt: none is stored behind its entry."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from threading import Event

import httpx
import pytest
from django.db import connection

from accounts.models import Project
from ledger.models import Entry
from tests.conftest import client_for
from tests.reviews.halts.halting import halt, release
from tests.support.builders import Person, Robot, make_robot, start_run, step
from tests.support.live import Live
from tests.support.problems import problem
from tests.support.processes import another_web_process
from tests.support.threads import Threads

ROUNDS = 4
WORKERS = 2
HELD = ("step.judged", "call.judged", "call.claimed", "run.started")


@pytest.fixture(scope="module")
def servers(live: Live) -> Iterator[list[Live]]:
    """Three processes on PostgreSQL, where there can be more than one."""
    with ExitStack() as stack:
        others = 2 if connection.vendor == "postgresql" else 0
        more = [stack.enter_context(another_web_process()) for _ in range(others)]
        yield [live, *(each.live for each in more)]


def test_nothing_stands_behind_a_halt(
    servers: list[Live], project: Project, manager: httpx.Client
) -> None:
    done = Event()
    robots = [make_robot(f"agent-{each}", project=project) for each in range(WORKERS)]
    with Threads(len(servers) * WORKERS) as pool:
        work = [
            pool.submit(_work, server, robot, done)
            for server in servers
            for robot in robots
        ]
        try:
            for _ in range(ROUNDS):
                made = halt(manager)
                release(manager, made)
        finally:
            done.set()
        stored = sum(each.result() for each in work)

    assert stored
    halted, behind = False, []
    entries = Entry.objects.filter(project=project).order_by("position")
    for kind, intent in entries.values_list("type", "run__intent"):
        if kind in {"halt.started", "halt.released"}:
            halted = kind == "halt.started"
        elif halted and kind in HELD and not intent.startswith("system-"):
            behind.append(kind)
    assert behind == []


def _work(server: Live, robot: Robot, done: Event) -> int:
    """Steps and claimed calls, each tried until it is let in."""
    number = stored = 0
    with client_for(server, robot) as client:
        run = _start(client)
        while not done.is_set():
            answer = client.post(f"/runs/{run}/steps", json=step(number + 1, tokens=1))
            if answer.status_code == 201:
                number, stored = number + 1, stored + 1
            else:
                problem(answer, "halted")
            stored += _call(client, run)
    return stored


def _start(client: httpx.Client) -> str:
    while True:
        answer = client.post("/runs", json={"task": "Race"})
        if answer.status_code == 201:
            code: str = answer.json()["id"]
            return code
        problem(answer, "halted")


def _call(client: httpx.Client, run: str) -> int:
    path = f"/runs/{run}/tool-calls"
    asked = client.post(path, json={"kind": "command", "command": "ls"})
    if asked.status_code != 201:
        problem(asked, "halted")
        return 0
    call = asked.json()
    claimed = client.post(f"{path}/{call['id']}/claim", json={"digest": call["digest"]})
    if claimed.status_code != 200:
        problem(claimed, "halted")
    return 1


def test_a_process_that_heard_nothing_stores_nothing_either(
    servers: list[Live], robo: Robot, project: Project, manager: httpx.Client
) -> None:
    """Its halts are remembered from before: the database itself refuses the version."""
    with client_for(servers[-1], robo) as client:
        run = start_run(client)
        assert client.post(f"/runs/{run}/steps", json=step(1)).status_code == 201
        made = halt(manager)
        problem(client.post(f"/runs/{run}/steps", json=step(2)), "halted")
        release(manager, made)
        assert client.post(f"/runs/{run}/steps", json=step(2)).status_code == 201


def test_a_halt_survives_the_process_that_made_it(
    robo: Robot, alice: Person, manager: httpx.Client
) -> None:
    """Nothing of it is kept in memory, or in Redis, that could be lost."""
    if connection.vendor != "postgresql":
        pytest.skip("On SQLite there is one process.")
    with another_web_process() as process:
        with client_for(process.live, alice) as there:
            made = halt(there)
        process.kill()
    with another_web_process() as process, client_for(process.live, robo) as client:
        told = problem(client.post("/runs", json={"task": "No"}), "halted")
        assert told["halt"]["id"] == made["id"]
        release(manager, made)
        start_run(client)
