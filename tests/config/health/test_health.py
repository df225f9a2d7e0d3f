"""GET /healthz and /readyz, with and without the base path, open to everybody."""

from __future__ import annotations

import os
import socket
import threading

import httpx
import pytest
from django.core.cache import cache
from django.db import InterfaceError, OperationalError, connection
from django.utils import timezone
from kombu.exceptions import OperationalError as BrokerError
from redis.exceptions import ConnectionError as RedisGone

from config import asgi
from config.health import draining, notice, parts
from config.health import probe as probing
from config.health.bounded import OwnConnection, Question
from config.health.probe import Probe
from config.models import Heartbeat
from ledger.writer import get_writer
from tests.support.applications import build_application
from tests.support.live import Live, serve
from tests.support.waiting import until


@pytest.mark.parametrize("path", ["/healthz", "/api/v1/healthz"])
def test_the_process_is_up(live: Live, path: str) -> None:
    answer = httpx.get(live.url + path)

    assert answer.status_code == 200
    assert answer.json() == {"status": "ok"}
    assert "no-store" in answer.headers["cache-control"]


@pytest.mark.parametrize("path", ["/healthz", "/api/v1/healthz"])
def test_that_it_is_up_is_said_without_django(
    database: None, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*given: object) -> None:
        raise AssertionError("Django was asked")

    monkeypatch.setattr(asgi, "django_application", fail)
    with serve(build_application()) as server:
        assert httpx.get(server.url + path).json() == {"status": "ok"}


def ready(live: Live, path: str = "/readyz") -> tuple[int, dict[str, str]]:
    answer = httpx.get(live.url + path)
    return answer.status_code, answer.json()["checks"]


@pytest.mark.parametrize("path", ["/readyz", "/api/v1/readyz"])
def test_a_process_is_ready_without_worker_beat_and_broker(
    live: Live, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Heartbeat.objects.exclude(name=Heartbeat.PROBE).delete()
    monkeypatch.setattr(parts, "celery_app", Away(BrokerError("gone")))

    assert ready(live, path) == (200, {"process": "ok", "database": "ok"})


def test_a_process_that_was_asked_to_stop_is_not_ready(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(draining, "_stop_time", timezone.now())
    status, checks = ready(live)
    assert status == 503
    assert checks["database"] == "ok"
    assert "stopping" in checks["process"]


class Away:
    """Whatever is asked of it fails in the same way."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def __getattr__(self, name: str) -> object:
        raise self._error


@pytest.mark.parametrize("error", [OperationalError("gone"), InterfaceError("closed")])
def test_a_database_that_is_away_is_told(
    live: Live, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(Heartbeat, "objects", Away(error))
        answer = httpx.get(f"{live.url}/readyz")
    assert answer.status_code == 503
    assert (answer.json()["status"], answer.headers["retry-after"]) == (
        *("unavailable", "5"),
    )
    assert answer.json()["checks"] == {
        "process": "ok",
        "database": "the database does not answer",
    }
    assert ready(live)[0] == 200


def test_a_database_that_hangs_is_told_while_it_hangs(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By every asker, and by one thread however many ask."""
    asked, goes_on = threading.Semaphore(0), threading.Event()

    def hang() -> None:
        asked.release()
        goes_on.wait()

    with monkeypatch.context() as patch:
        patch.setattr(parts, "DATABASE_SECONDS", 0.05)
        patch.setattr(parts, "_check_writes", hang)
        for _ in range(3):
            status, checks = ready(live)
            assert status == 503
            assert checks["database"].startswith("the database does not answer (no")
        assert asked.acquire(blocking=False)
        assert not asked.acquire(blocking=False), "It was asked once."
    goes_on.set()
    until(lambda: ready(live)[0] == 200)


def test_redis_that_hangs_is_not_waited_for(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    goes_on = threading.Event()
    question: Question[bool] = Question(lambda: not goes_on.wait())
    monkeypatch.setattr(parts, "_notices", question)
    monkeypatch.setattr(parts, "NOTICE_SECONDS", 0.05)
    assert ready(live) == (200, {"process": "ok", "database": "ok"})
    goes_on.set()


def test_both_limits_together_are_less_than_a_load_balancer_waits() -> None:
    assert parts.NOTICE_SECONDS + parts.DATABASE_SECONDS < 2


def test_a_database_that_takes_no_writes_at_all_is_told(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a standby does, to which an address may lead after a failover."""
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has no standby.")
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_database()")
        name = cursor.fetchone()[0]
        alter = f'ALTER DATABASE "{name}"'
        cursor.execute(f"{alter} SET default_transaction_read_only = on")
        try:
            monkeypatch.setattr(parts, "_own", OwnConnection())
            told = ready(live)
        finally:
            cursor.execute("SET transaction_read_only = off")
            cursor.execute(f"{alter} RESET default_transaction_read_only")
    assert told == (
        503,
        {"process": "ok", "database": "the database is read-only"},
    )
    monkeypatch.setattr(parts, "_own", OwnConnection())
    assert ready(live)[0] == 200


def test_a_server_that_is_gone_without_a_word_is_noticed(database: None) -> None:
    """TCP would go on for a quarter of an hour, and so would the writer."""
    if connection.vendor != "postgresql":
        pytest.skip("SQLite is no server.")
    connection.ensure_connection()
    number = os.dup(connection.connection.fileno())
    with socket.socket(fileno=number) as link:

        def read(option: int) -> int:
            return link.getsockopt(socket.IPPROTO_TCP, option)

        unanswered = read(socket.TCP_KEEPINTVL) * read(socket.TCP_KEEPCNT)
        assert read(socket.TCP_KEEPIDLE) + unanswered == 10
        assert read(socket.TCP_USER_TIMEOUT) == 10_000


def test_a_write_may_take_so_long_and_no_longer(
    database: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert parts.BUSY_LIMIT == 20
    monkeypatch.setattr(type(get_writer()), "busy_seconds", 20.0)
    parts._check_writes()
    monkeypatch.setattr(type(get_writer()), "busy_seconds", 21.5)
    with pytest.raises(parts._DatabaseFault, match="under way for 21 seconds"):
        parts._check_writes()


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
    parts._check_writes()


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
