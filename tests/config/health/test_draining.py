"""Between a signal and the end: said at once, served until then."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Iterator

import httpx
import pytest
from django.conf import settings
from django.db import connection
from django.test.utils import override_settings

from config.environment import Environment
from config.health import draining
from config.health.draining import announce_stop_on, get_stop_time
from tests.support.processes import another_web_process
from tests.support.waiting import until


@pytest.fixture
def happened(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What is done when SIGUSR1 comes, besides the announcement."""
    done: list[str] = []
    monkeypatch.setattr(draining, "_stop_time", None)
    before = signal.signal(signal.SIGUSR1, lambda *_: done.append("server told"))
    yield done
    signal.signal(signal.SIGUSR1, before)


async def wait_for(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0.01)


def announce(happened: list[str]) -> None:
    announce_stop_on(signal.SIGUSR1, before_end=lambda: happened.append("let go"))


@pytest.mark.once("a matter of signals")
def test_without_a_pause_it_ends_at_once(happened: list[str]) -> None:
    async def scene() -> None:
        announce(happened)
        assert get_stop_time() is None
        os.kill(os.getpid(), signal.SIGUSR1)
        await wait_for(lambda: len(happened) == 2)
        assert get_stop_time() is not None
        # Only the main thread may set handlers; a server in another one goes without.
        now = signal.getsignal(signal.SIGUSR1)
        await asyncio.to_thread(announce, happened)
        assert signal.getsignal(signal.SIGUSR1) is now

    with override_settings(DRAIN_S=0):
        asyncio.run(scene())
    assert happened == ["let go", "server told"]


@pytest.mark.once("a matter of signals")
def test_it_goes_on_for_a_while_and_a_second_signal_ends_it(
    happened: list[str],
) -> None:
    async def scene() -> None:
        announce(happened)
        os.kill(os.getpid(), signal.SIGUSR1)
        await wait_for(lambda: get_stop_time() is not None)
        first = get_stop_time()
        await asyncio.sleep(0.05)
        assert happened == []
        os.kill(os.getpid(), signal.SIGUSR1)
        await wait_for(lambda: len(happened) == 2)
        assert get_stop_time() == first

    with override_settings(DRAIN_S=300):
        asyncio.run(scene())


@pytest.mark.once("a matter of signals")
def test_the_first_signal_does_not_end_it_once_more(happened: list[str]) -> None:
    """uvicorn takes a second SIGINT for a wish to end without grace."""

    async def scene() -> None:
        announce(happened)
        os.kill(os.getpid(), signal.SIGUSR1)
        os.kill(os.getpid(), signal.SIGUSR1)
        await wait_for(lambda: len(happened) == 2)
        await asyncio.sleep(0.1)  # the first one's timer rings before this one

    with override_settings(DRAIN_S=0.05):
        asyncio.run(scene())
    assert happened == ["let go", "server told"]


@pytest.mark.once("reads settings")
def test_one_process_stands_behind_no_load_balancer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("DATABASE_URL", "CHECKRAIL_DRAIN_S"):
        monkeypatch.delenv(name, raising=False)
    assert Environment().drain_seconds == 0
    monkeypatch.setenv("DATABASE_URL", "postgresql://db.invalid/checkrail")
    assert Environment().drain_seconds == 5
    monkeypatch.setenv("CHECKRAIL_DRAIN_S", "0")
    assert Environment().drain_seconds == 0


@pytest.mark.skipif(settings.EMBEDDED, reason="Several processes need PostgreSQL.")
def test_a_process_that_stops_answers_until_it_has_said_so(database: None) -> None:
    """New connections are taken, and told 503, while the one before asks for work."""
    assert connection.vendor == "postgresql"
    with another_web_process(variables={"CHECKRAIL_DRAIN_S": "300"}) as process:
        url = process.live.url
        assert httpx.get(f"{url}/readyz").status_code == 200
        os.kill(process.pid, signal.SIGTERM)
        until(lambda: httpx.get(f"{url}/readyz").status_code == 503)
        for _ in range(3):
            told = httpx.get(f"{url}/readyz")
            assert (told.status_code, told.json()["checks"]["database"]) == (503, "ok")
            assert "stopping" in told.json()["checks"]["process"]
            assert httpx.get(f"{url}/healthz").status_code == 200
            status = httpx.get(f"{url}/status").json()
            assert status["status"] == "degraded"
            assert status["parts"]["process"]["status"] == "degraded"
        assert "Traceback" not in process.stop()  # by the second signal
