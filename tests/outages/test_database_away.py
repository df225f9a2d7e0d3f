"""PostgreSQL is away, hangs, and comes back: agents wait, processes say so, and all go on.

By default it is away until pauses between attempts have grown. For as long as a failover
takes, with times:

    AWAY_SECONDS=240 python -m tests.suite --only sqlite tests/outages -n 0 -s -k away
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from checkrail import Checkrail, Run

from tests.outages.proxy import balance
from tests.outages.services import Services, build_beat
from tests.support.processes import celery_process, web_process
from tests.support.waiting import until

AGENTS = 3
# Of each run.
STEPS = 10
AWAY_SECONDS = float(os.environ.get("AWAY_SECONDS", "16"))
# Of the client: as long as it takes.
PATIENCE_SECONDS = 900.0


class Agent:
    """A program with the client, which reports steps until it is told to end."""

    def __init__(self, url: str, key: str, ended: threading.Event) -> None:
        self.steps = 0
        self.slowest = 0.0
        self.failed: list[str] = []
        self._url, self._key, self._ended = url, key, ended
        self.thread = threading.Thread(target=self._work)
        self.thread.start()

    def _work(self) -> None:
        try:
            with Checkrail(
                self._url, self._key, retry_seconds=PATIENCE_SECONDS
            ) as rail:
                while not self._ended.is_set():
                    with rail.run("Go on") as run:
                        self._report_steps(run)
        except BaseException as error:
            self.failed.append(repr(error))

    def _report_steps(self, run: Run) -> None:
        for _ in range(STEPS):
            began = time.monotonic()
            run.step(summary="Did something")
            self.slowest = max(self.slowest, time.monotonic() - began)
            self.steps += 1
            if self._ended.wait(0.1):
                return


def measure(condition: Callable[[], bool]) -> float:
    began = time.monotonic()
    until(condition, seconds=300)
    return time.monotonic() - began


@pytest.mark.timeout(900 + AWAY_SECONDS)
def test_while_postgresql_is_away_no_agents_program_ends(
    services: Services, tmp_path: Path
) -> None:
    with (
        web_process(variables=services.variables) as first,
        web_process(variables=services.variables) as second,
        celery_process("worker", "--concurrency=1", variables=services.variables),
        celery_process(*build_beat(tmp_path), variables=services.variables),
        balance(first.live.url, second.live.url) as proxy,
    ):
        webs = (first.live.url, second.live.url)

        def list_ready() -> list[int]:
            return [httpx.get(f"{web}/readyz").status_code for web in webs]

        def list_served() -> list[int]:
            """A run is begun by each: what is only asked takes no connection of the pool."""
            with httpx.Client(
                headers={"Authorization": f"Bearer {services.key}"}
            ) as one:
                return [
                    one.post(
                        f"{web}/api/v1/runs", json={"task": "Go on"}, timeout=30
                    ).status_code
                    for web in webs
                ]

        def read_parts(web: str) -> dict[str, str]:
            answer = httpx.get(f"{web}/status")
            assert answer.status_code == 200
            parts = answer.json()["parts"]
            return {name: part["status"] for name, part in parts.items()}

        until(lambda: set(read_parts(webs[0]).values()) == {"ok"}, seconds=120)
        ended = threading.Event()
        agents = [Agent(proxy.url, services.key, ended) for _ in range(AGENTS)]
        try:
            until(lambda: all(agent.steps > 5 for agent in agents))
            services.postgres.crash()
            noticed = measure(lambda: list_ready() == [503, 503])
            for web in webs:
                assert httpx.get(f"{web}/healthz").status_code == 200
                told = httpx.get(f"{web}/readyz").json()["checks"]
                assert told["process"] == "ok"
                assert "does not answer" in told["database"]
                parts = read_parts(web)
                assert (parts["database"], parts["redis"]) == ("down", "ok")
                assert "checkrail_ready 0.0" in httpx.get(f"{web}/metrics").text
            time.sleep(AWAY_SECONDS)
            assert not [agent.failed for agent in agents if agent.failed]

            services.postgres.start()
            before = [agent.steps for agent in agents]
            served = measure(lambda: list_served() == [201, 201])
            ready = served + measure(lambda: list_ready() == [200, 200])
            on = ready + measure(
                lambda: all(
                    agent.steps > steps or bool(agent.failed)
                    for agent, steps in zip(agents, before, strict=True)
                )
            )
            work = on + measure(
                lambda: set(read_parts(webs[0]).values()) == {"ok"},
            )
        finally:
            ended.set()
            for agent in agents:
                agent.thread.join()
        assert [agent.failed for agent in agents] == [[]] * AGENTS
        figures = {
            "away_s": AWAY_SECONDS,
            "not_ready_after_s": round(noticed, 1),
            "served_after_s": round(served, 1),
            "ready_after_s": round(ready, 1),
            "every_agent_on_after_s": round(on, 1),
            "everything_ok_after_s": round(work, 1),
            "slowest_step_s": round(max(agent.slowest for agent in agents), 1),
        }
        sys.stdout.write(f"{json.dumps(figures)}\n")


def test_a_database_that_hangs_is_told_and_forgotten_when_it_goes_on(
    services: Services,
) -> None:
    with web_process(variables=services.variables) as web:
        url = web.live.url
        assert httpx.get(f"{url}/readyz").status_code == 200
        with services.postgres.hang():
            answer = httpx.get(f"{url}/readyz")
            assert answer.status_code == 503
            told = answer.json()["checks"]["database"]
            assert told.startswith("the database does not answer (no answer for")
            assert httpx.get(f"{url}/healthz").status_code == 200
            status = httpx.get(f"{url}/status")
            assert (status.status_code, status.json()["status"]) == (200, "down")
            page = httpx.get(f"{url}/status", headers={"Accept": "text/html"})
            assert "Agents cannot be served" in page.text
            metrics = httpx.get(f"{url}/metrics")
            assert metrics.status_code == 200
            assert "checkrail_ready 0.0" in metrics.text
            assert "checkrail_runs" not in metrics.text
            took = answer.elapsed.total_seconds()
        until(lambda: httpx.get(f"{url}/readyz").status_code == 200)
        assert "checkrail_runs" in httpx.get(f"{url}/metrics").text
        sys.stdout.write(f"hanging told after {took:.2f} s\n")
