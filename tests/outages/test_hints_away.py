"""Worker, beat and Redis are killed under load: agents and load balancers notice nothing."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from pathlib import Path

import httpx
import psycopg

from tests.outages.proxy import balance
from tests.outages.services import Services, build_beat
from tests.support.builders import step
from tests.support.processes import celery_process, web_process
from tests.support.waiting import until

AGENTS = 3


class Load:
    """Agents that report steps and calls, each on a new connection, and never try twice."""

    def __init__(self, url: str, key: str) -> None:
        self.done = 0
        self.failed: list[str] = []
        self._url = f"{url}/api/v1"
        self._ended = threading.Event()
        self._threads = [
            threading.Thread(target=self._work, args=(key,)) for _ in range(AGENTS)
        ]

    def __enter__(self) -> Load:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_raised: object) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join()

    def _work(self, key: str) -> None:
        try:
            run = self._post(key, "/runs", {"task": "Go on"})["id"]
            number = 0
            while not self._ended.is_set():
                number += 1
                self._post(key, f"/runs/{run}/steps", step(number))
                call = {"kind": "command", "tool": "Bash", "command": "ls"}
                self._post(key, f"/runs/{run}/tool-calls", call)
                if number % 20 == 0:
                    self._post(key, f"/runs/{run}/checkpoints", {"step": number})
        except Exception as error:
            self.failed.append(repr(error))

    def _post(self, key: str, path: str, body: Mapping[str, object]) -> dict[str, str]:
        headers = {"Authorization": f"Bearer {key}"}
        began = time.monotonic()
        try:
            answer = httpx.post(self._url + path, json=body, headers=headers)
        except httpx.HTTPError as error:
            took = time.monotonic() - began
            raise AssertionError(f"{path}: {error!r} after {took:.1f} s") from error
        assert answer.is_success, f"{path}: {answer.status_code} {answer.text}"
        self.done += 1
        document: dict[str, str] = answer.json()
        return document

    def go_on(self, calls: int) -> None:
        """Until so many more are done, or one has failed."""
        goal = self.done + calls
        until(lambda: self.done >= goal or bool(self.failed))


def test_without_worker_beat_and_redis_no_call_fails_and_nobody_leaves_rotation(
    services: Services, tmp_path: Path
) -> None:
    with (
        web_process(variables=services.variables) as first,
        web_process(variables=services.variables) as second,
        celery_process(
            *("worker", "--concurrency=1"), variables=services.variables
        ) as worker,
        celery_process(*build_beat(tmp_path), variables=services.variables) as beat,
        balance(first.live.url, second.live.url) as proxy,
    ):

        def read_status() -> dict[str, str]:
            document = httpx.get(f"{proxy.url}/status").json()
            parts = {name: part["status"] for name, part in document["parts"].items()}
            return {"all": document["status"], **parts}

        until(lambda: read_status()["all"] == "ok", seconds=120)
        with Load(proxy.url, services.key) as load:
            load.go_on(10)
            worker.kill()
            beat.kill()
            with psycopg.connect(services.postgres.url) as database:
                # As if it had been an hour ago.
                database.execute(
                    "UPDATE config_heartbeat SET at = at - interval '1 hour'"
                )
            load.go_on(20)
            services.kill_redis()
            load.go_on(60)
            asked = proxy.asked
            until(lambda: proxy.asked > asked + 8)
            assert read_status() == {
                "all": "degraded",
                "process": "ok",
                "database": "ok",
                "redis": "down",
                "worker": "degraded",
                "beat": "down",
            }
        assert load.failed == []
        assert proxy.left == []
