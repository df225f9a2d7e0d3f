"""kill -9 in the middle of the work: what was acknowledged is in the ledger."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Lock

import httpx
import pytest
from django.db import connection

from accounts.models import Project
from ledger.models import Run
from ledger.verification.replay import replay_run
from ledger.verification.verify import verify_run
from tests.conftest import client_for
from tests.support.builders import Robot, make_robot, start_run, step
from tests.support.live import Live
from tests.support.processes import Process, another_web_process, manage, up
from tests.support.threads import Threads
from tests.support.threads import at_once as together

AGENTS = 20
ENOUGH = 300


@dataclass(slots=True)
class Oracle:
    """What the agents were told: by run, the receipts of its steps."""

    receipts: dict[str, list[tuple[int, str]]] = field(default_factory=dict)
    count: int = 0
    enough: Event = field(default_factory=Event)
    _lock: Lock = field(default_factory=Lock)

    def acknowledged(self, run: str, receipt: dict[str, object]) -> None:
        with self._lock:
            self.receipts.setdefault(run, []).append(
                (int(str(receipt["seq"])), str(receipt["hash"]))
            )
            self.count += 1
            if self.count >= ENOUGH:
                self.enough.set()


def work_until_it_dies(live: Live, robot: Robot, oracle: Oracle) -> None:
    with client_for(live, robot) as client:
        try:
            run = start_run(client)
            oracle.receipts.setdefault(run, [])
            for number in range(1, 100_000):
                answer = client.post(
                    f"/runs/{run}/steps", json=step(number, tokens=1, checkpoint=True)
                )
                assert answer.status_code == 201, answer.text
                oracle.acknowledged(run, answer.json()["receipt"])
        except httpx.TransportError:
            pass  # killed: whether the last one was stored is not known


def kill_in_the_middle(server: Process, robot: Robot) -> Oracle:
    oracle = Oracle()
    with Threads(AGENTS) as pool:
        agents = [
            pool.submit(work_until_it_dies, server.live, robot, oracle)
            for _ in range(AGENTS)
        ]
        assert oracle.enough.wait(timeout=100)
        server.kill()
        for agent in agents:
            agent.result(timeout=60)
    return oracle


def settle(live: Live, robot: Robot, oracle: Oracle) -> None:
    """Everything acknowledged is there, and what is not known settles by resending."""
    with client_for(live, robot) as client:
        for run, receipts in oracle.receipts.items():
            lines = client.get(f"/runs/{run}/ledger").text.splitlines()
            stored = {(e["seq"], e["hash"]) for e in map(json.loads, lines)}
            assert stored >= set(receipts)
            assert len(lines) - 1 in {len(receipts), len(receipts) + 1}
            number = len(receipts) + 1
            body = step(number, tokens=1, checkpoint=True)
            again = client.post(f"/runs/{run}/steps", json=body)
            assert again.status_code == 201, again.text
            assert client.get(f"/runs/{run}").json()["steps"] == number


def test_nothing_acknowledged_is_lost_with_the_embedded_server(
    database: None, tmp_path: Path
) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("The embedded profile is on SQLite.")
    key = ("agent_key", "robo", "--project", "p", "--json")
    data = {"CHECKRAIL_DATA": str(tmp_path)}
    with up(tmp_path) as server:
        made = manage(*key, **data)
        robot = Robot(name="robo", key=json.loads(made.stdout)["key"])
        oracle = kill_in_the_middle(server, robot)

    with up(tmp_path) as again:
        settle(again.live, robot, oracle)
        again.kill()
    # One run an agent, and in each of the two projects the one in which settings are
    # recorded: the first admin, and the agent's key.
    for ended in together(
        lambda: manage("ledger_verify", **data), lambda: manage("replay", **data)
    ):
        assert ended.returncode == 0, ended.stderr
        assert ended.stdout.startswith(f"{AGENTS + 2} runs"), ended.stdout


def test_nothing_acknowledged_is_lost_with_a_web_process(
    live: Live, project: Project
) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("Web processes of their own need PostgreSQL.")
    robot = make_robot(project=project)
    with another_web_process() as server:
        oracle = kill_in_the_middle(server, robot)

    settle(live, robot, oracle)
    for run in Run.objects.filter(project=project):
        assert verify_run(run).ok
        assert replay_run(run).difference is None
