"""GET /healthz and /readyz, with and without the base path, open to everybody."""

from __future__ import annotations

from datetime import timedelta

import httpx
import pytest
from django.core.cache import cache
from django.db import InterfaceError, OperationalError
from django.utils import timezone
from kombu.exceptions import OperationalError as BrokerError
from redis.exceptions import ConnectionError as RedisGone

from config import asgi
from config.health import api as health
from config.health import notice
from config.health import probe as probing
from config.health.api import BUSY_LIMIT, SILENCE_LIMIT
from config.health.probe import Probe
from config.models import Heartbeat
from ledger.writer import get_writer
from tests.support.live import Live


@pytest.mark.parametrize("path", ["/healthz", "/api/v1/healthz"])
def test_the_process_is_up(live: Live, path: str) -> None:
    answer = httpx.get(live.url + path)

    assert answer.status_code == 200
    assert answer.json() == {"status": "ok"}
    assert "no-store" in answer.headers["cache-control"]


@pytest.mark.parametrize("path", ["/healthz", "/api/v1/healthz"])
def test_that_it_is_up_is_said_without_django(
    live: Live, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*given: object) -> None:
        raise AssertionError("Django was asked")

    monkeypatch.setattr(asgi.fast_path, "_django", fail)

    assert httpx.get(live.url + path).json() == {"status": "ok"}


@pytest.mark.parametrize("path", ["/readyz", "/api/v1/readyz"])
def test_readiness_names_what_is_missing(live: Live, path: str) -> None:
    Heartbeat.objects.filter(name=Heartbeat.WORKER).delete()

    missing = httpx.get(live.url + path)

    assert missing.status_code == 503
    assert int(missing.headers["retry-after"]) > 0
    checks = missing.json()["checks"]
    assert set(checks) == {"database", "broker", "workers"}
    assert checks["database"] == "ok"
    assert checks["workers"] != "ok"

    Heartbeat.objects.create(name=Heartbeat.WORKER, at=timezone.now())
    ready = httpx.get(live.url + path)
    assert ready.status_code == 200, ready.text
    assert set(ready.json()["checks"].values()) == {"ok"}


def test_a_worker_that_has_fallen_silent_is_told(live: Live) -> None:
    def told(seconds: int) -> tuple[int, str]:
        at = timezone.now() - timedelta(seconds=seconds)
        Heartbeat.objects.update_or_create(name=Heartbeat.WORKER, defaults={"at": at})
        answer = httpx.get(f"{live.url}/readyz")
        return answer.status_code, answer.json()["checks"]["workers"]

    assert told(0) == (200, "ok")
    assert told(SILENCE_LIMIT - 10) == (200, "ok")
    status, words = told(SILENCE_LIMIT + 1)
    assert status == 503
    assert words.startswith(f"no worker for {SILENCE_LIMIT + 1}"[:-1])
    assert told(7 * 86_400)[0] == 503
    Heartbeat.objects.update(at=timezone.now())


class Away:
    """Whatever is asked of it fails in the same way."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def __getattr__(self, name: str) -> object:
        raise self._error


@pytest.mark.parametrize("error", [OperationalError("gone"), InterfaceError("closed")])
def test_a_database_that_is_away_is_told_and_the_rest_is_still_looked_at(
    live: Live, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    monkeypatch.setattr(health, "connection", Away(error))
    with monkeypatch.context() as patch:
        patch.setattr(Heartbeat, "objects", Away(error))
        answer = httpx.get(f"{live.url}/readyz")
    assert answer.status_code == 503
    assert (answer.json()["status"], answer.headers["retry-after"]) == (
        *("unavailable", "5"),
    )
    assert answer.json()["checks"] == {
        "database": "the database does not answer",
        "broker": "ok",
        "workers": "not known without the database",
    }


@pytest.mark.parametrize("error", [BrokerError("gone"), ConnectionRefusedError()])
def test_a_broker_that_is_away_is_told(
    live: Live, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    Heartbeat.objects.update_or_create(
        name=Heartbeat.WORKER, defaults={"at": timezone.now()}
    )
    monkeypatch.setattr(health, "celery_app", Away(error))
    answer = httpx.get(f"{live.url}/readyz")
    assert answer.status_code == 503
    assert answer.json()["checks"] == {
        "database": "ok",
        "broker": "the broker does not answer",
        "workers": "ok",
    }


def test_a_write_may_take_so_long_and_no_longer(
    database: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (BUSY_LIMIT, SILENCE_LIMIT) == (20, 60)
    for seconds, told in (
        (20.0, "ok"),
        (21.5, "a write has been under way for 21 seconds"),
    ):
        monkeypatch.setattr(type(get_writer()), "busy_seconds", seconds)
        assert health._check_writes() == told


def test_without_redis_a_process_knows_its_own_writes_alone(
    database: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("set", "get", "delete"):

        def gone(*_given: object, **_named: object) -> None:
            raise RedisGone("no such server")

        monkeypatch.setattr(cache, name, gone, raising=False)
    notice.leave_notice()
    assert not notice.find_notice()
    notice.remove_notice()
    assert health._check_writes() == "ok"


def test_a_notice_is_forgotten_after_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its process may have ended before the writes went through again."""
    kept: dict[str, object] = {}
    monkeypatch.setattr(
        cache, "set", lambda *given, **named: kept.update(named), raising=False
    )
    notice.leave_notice()
    assert kept == {"timeout": 60}


def test_a_probe_writes_as_much_as_work_does_and_is_tried_again_after_a_success(
    database: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[int] = []
    monkeypatch.setattr(probing, "_write", lambda text: written.append(len(text)))
    monkeypatch.setattr(probing, "SECONDS_BETWEEN", 60.0)
    probe = Probe()
    assert [probe.succeeds() for _ in range(2)] == [True, True]
    assert written[0] >= 192 * 1024
    assert written[1::2] == [0, 0]

    def fail(_text: str) -> None:
        raise InterfaceError("closed")

    monkeypatch.setattr(probing, "_write", fail)
    assert not probe.succeeds()
    monkeypatch.setattr(probing, "SECONDS_BETWEEN", 0.0)
    monkeypatch.setattr(probing, "_write", lambda text: written.append(len(text)))
    assert probe.succeeds()
    monkeypatch.setattr(probing, "SECONDS_BETWEEN", 60.0)
    assert probe.succeeds(), "The failure before the success counts no more."
