"""Background work: what the clock names is there, and webhooks have a queue of their own."""

from __future__ import annotations

from typing import Any

import pytest
from django.conf import settings
from django.core import checks

from accounts.models import Project, User
from config import embedded
from config.celery import app
from config.embedded import Embedded, PortTaken, find_integrity_fault, open_listener
from config.health.parts import SILENCE_LIMIT
from config.management.commands.up import Command
from tests.support.builders import Person


def test_every_task_of_the_schedule_is_registered() -> None:
    app.loader.import_default_modules()
    named = {entry["task"] for entry in app.conf.beat_schedule.values()}
    ours = {name for name in app.tasks if not name.startswith("celery.")}
    # One is sent by the ledger's entries, not by the clock.
    assert named | {"loop.decide"} == ours


def test_a_worker_runs_no_checks_whose_findings_nobody_reads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run: list[str] = []
    monkeypatch.setattr(checks, "run_checks", lambda: run.append("all"))
    app.loader.import_default_modules()
    assert not run


def test_every_queue_of_the_schedule_is_one_that_workers_take_from() -> None:
    named = {
        entry["options"].get("queue", app.conf.task_default_queue)
        for entry in app.conf.beat_schedule.values()
    }
    assert named == {queue.name for queue in app.conf.task_queues}


def test_how_often_and_a_message_that_waited_longer_is_dropped() -> None:
    """The next one says the same: a worker that was away does not do it all at once."""
    schedule = app.conf.beat_schedule
    assert {name: entry["schedule"] for name, entry in schedule.items()} == {
        "heartbeat": 15,
        "expire-reviews": 15,
        "release-reviews": 5,
        "move-deadlines": 15,
        "abandon-runs": 60,
        "stop-overdue-runs": 15,
        "move-runs": 15,
        "run-backtests": 15,
        "search-suggestions": 3600,
        "start-verifications": 3600,
        "verify-ledgers": 15,
        "deliver-webhooks": 2,
        "delete-old-deliveries": 3600,
        "send-mails": 30,
        "delete-old-notices": 3600,
        "figures-and-words": 5,
        "delete-old-exports": 3600,
        "delete-idempotency-keys": 3600,
        "loop": 60,
        "loop-learn": 3600,
    }
    for name, entry in schedule.items():
        assert entry["schedule"] <= entry["options"]["expires"] <= 3600, name
    assert schedule["heartbeat"]["schedule"] * 3 < SILENCE_LIMIT


def test_workers_take_no_orders_and_keep_no_results() -> None:
    """Whoever reaches Redis could otherwise stop them."""
    assert app.conf.worker_enable_remote_control is False
    assert app.conf.task_ignore_result is True
    assert app.conf.broker_connection_retry_on_startup is True
    assert app.conf.worker_hijack_root_logger is False


def test_one_process_serves_as_carefully_as_the_others() -> None:
    config: Any = Embedded(host="127.0.0.1", port=0)._config
    assert config.http.__name__ == "TimedProtocol"
    assert (config.proxy_headers, config.server_header) == (False, False)
    assert (config.ws_max_size, config.ws_per_message_deflate) == (65_536, True)
    assert (config.access_log, config.timeout_graceful_shutdown) == (False, 3)
    assert config.lifespan == "on"


def test_a_server_whose_background_work_cannot_start_ends_and_says_why(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Reviews would never expire, and no webhook be sent: better no server at all."""

    async def answer_nobody(scope: Any, receive: Any, send: Any) -> None: ...

    def fail(_: Embedded) -> None:
        raise ImportError("no such task")

    monkeypatch.setattr(Embedded, "_start_background", fail)
    server: Any = Embedded(host="127.0.0.1", port=0)
    server._config.app, server._config.lifespan = answer_nobody, "off"
    announced: list[str] = []
    with (
        open_listener("127.0.0.1", 0) as server._listener,
        pytest.raises(ImportError, match="no such task"),
    ):
        server.serve(ready=announced.append)
    assert announced == []


def test_a_port_that_is_taken_is_said_and_ipv6_can_be_served() -> None:
    with open_listener("127.0.0.1", 0) as first:
        first.listen()
        port = first.getsockname()[1]
        with pytest.raises(PortTaken, match=f"127.0.0.1:{port} cannot be used"):
            open_listener("127.0.0.1", port)
    # Free again at once, though the kernel still remembers its connections.
    open_listener("127.0.0.1", port).close()
    with open_listener("::1", 0) as sixth:
        assert sixth.getsockname()[0] == "::1"


@pytest.mark.skipif(not settings.EMBEDDED, reason="A matter of SQLite's file.")
def test_a_damaged_file_is_found(
    database: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert find_integrity_fault() is None

    class Damaged:
        def __enter__(self) -> Damaged:
            return self

        def __exit__(self, *_: object) -> None: ...

        def execute(self, statement: str) -> None:
            assert statement == "PRAGMA quick_check(1)"

        def fetchone(self) -> tuple[str]:
            return ("row 7 missing from index",)

    class Link:
        cursor = Damaged

    monkeypatch.setattr(embedded, "connection", Link())
    assert find_integrity_fault() == "row 7 missing from index"


def test_a_second_start_leaves_the_first_admins_password(
    project: Project, bob: Person
) -> None:
    """Only where there is nobody yet, somebody is made."""
    people = User.objects.count()
    assert Command()._add_first_admin(project.slug) is None
    assert User.objects.count() == people


def test_the_broker_of_one_process_is_the_process_itself() -> None:
    own = settings.CELERY_BROKER_URL.startswith("memory://")
    quick = app.conf.broker_transport_options == {"polling_interval": 0.05}
    assert (own, quick) == (settings.EMBEDDED, settings.EMBEDDED)
