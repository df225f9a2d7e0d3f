"""`migrate` waits for the locks of others without holding anybody up, and names them."""

from __future__ import annotations

import io
import sqlite3
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from typing import Any

import psycopg
import pytest
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError
from django.core.management.commands.migrate import Command as DjangosCommand
from django.db import OperationalError, connection
from django.test.utils import override_settings

from config.database import migrating
from config.management.commands import migrate
from tests.support.processes import database_url
from tests.support.waiting import until

LIMITS = ("lock_timeout", "statement_timeout", "idle_in_transaction_session_timeout")


@pytest.fixture
def output(database: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """Short waits, and one more migration, which is taken back."""
    monkeypatch.setattr(migrating, "LOCK_MS", 100)
    monkeypatch.setattr(migrating, "_LIMITS", {**migrating._LIMITS, LIMITS[0]: 100})
    monkeypatch.setattr(migrating, "BUSY_MS", 50)
    monkeypatch.setattr(migrating, "LOOK_SECONDS", 0.02)
    monkeypatch.setattr(migrate, "PAUSE_SECONDS", 0.3)
    modules = {"config": "tests.config.database.tried"}
    with override_settings(MIGRATION_MODULES=modules):
        yield io.StringIO()
        call_command("migrate", "config", "0001", verbosity=0)
    assert not has_column()
    forget_limits()


def forget_limits() -> None:
    """What migrated gave connections back to the pool as they were; a command ends then."""
    link: Any = connection
    if link.vendor == "postgresql":
        link.close()
        link.close_pool()


@contextmanager
def hold_table() -> Iterator[None]:
    """Another session is in the middle of something."""
    if connection.vendor == "postgresql":
        with psycopg.connect(database_url()) as other:
            other.execute("SELECT count(*) FROM config_heartbeat")
            yield
            other.rollback()
        return
    name = str(connection.settings_dict["NAME"])
    with closing(sqlite3.connect(name, isolation_level=None)) as file:
        file.execute("BEGIN IMMEDIATE")
        yield
        file.execute("ROLLBACK")


def has_column() -> bool:
    with connection.cursor() as cursor:
        found = connection.introspection.get_table_description(
            cursor, "config_heartbeat"
        )
    return "tried" in [column.name for column in found]


def run(output: io.StringIO, **options: object) -> None:
    try:
        call_command("migrate", "config", stdout=output, **options)
    finally:
        connection.close()


def read_limits() -> list[str]:
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("PRAGMA busy_timeout")
            return [str(cursor.fetchone()[0])]
        limits = []
        for name in LIMITS:
            cursor.execute(f"SHOW {name}")
            limits.append(cursor.fetchone()[0])
        return limits


def test_it_tries_again_until_the_lock_is_free_and_says_whose_it_is(
    output: io.StringIO,
) -> None:
    with ThreadPoolExecutor() as pool:
        with hold_table():
            running: Future[None] = pool.submit(run, output)
            until(lambda: output.getvalue().count("Waiting for") >= 2)
            assert not running.done()
        running.result(timeout=60)
    assert has_column()
    told = output.getvalue()
    if connection.vendor == "sqlite":
        assert f"writes to {connection.settings_dict['NAME']}" in told
    else:
        assert "idle in transaction" in told
        assert "SELECT count(*) FROM config_heartbeat)" in told


def test_others_are_let_in_while_it_waits(output: io.StringIO) -> None:
    """An ALTER that waits holds up whoever comes after it."""
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has no queue of locks.")
    with ThreadPoolExecutor() as pool, hold_table():
        running = pool.submit(run, output, wait=2)
        until(lambda: "Waiting for" in output.getvalue())
        with psycopg.connect(database_url()) as other:
            # Less than the whole time that migrate waits.
            other.execute("SET lock_timeout = 1000")
            other.execute("SELECT count(*) FROM config_heartbeat")
        assert not running.done()
        with pytest.raises(CommandError):
            running.result(timeout=60)


def test_it_gives_up_in_the_end_and_has_changed_nothing(output: io.StringIO) -> None:
    with hold_table(), pytest.raises(CommandError, match="Given up waiting for"):
        run(output, wait=0)
    assert not has_column()
    assert "Waiting for" not in output.getvalue()


def test_what_is_no_lock_is_raised_as_it_is(
    output: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_given: object, **_named: object) -> None:
        raise OperationalError("no space left on device")

    monkeypatch.setattr(DjangosCommand, "handle", fail)
    with pytest.raises(OperationalError, match="no space left"):
        run(output)
    monkeypatch.undo()


def test_its_limits_are_its_own(
    database: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[list[str]] = []
    connection.close()
    usual = read_limits()

    def look(*_given: object, **_named: object) -> None:
        seen.append(read_limits())
        connection.close()
        seen.append(read_limits())  # also on a new connection

    monkeypatch.setattr(DjangosCommand, "handle", look)
    call_command("migrate")

    own = ["30000"] if connection.vendor == "sqlite" else ["1s", "0", "0"]
    assert seen == [own, own]
    assert read_limits() == usual
    assert own[0] != usual[0]
    forget_limits()
    threads = [thread.name for thread in threading.enumerate()]
    assert not [name for name in threads if "_look" in name]


@pytest.mark.skipif(settings.EMBEDDED, reason="SQLite has no queue of locks.")
def test_it_waits_for_less_time_than_requests_do() -> None:
    options = settings.DATABASES["default"]["OPTIONS"]["options"]
    assert f"lock_timeout={2 * migrating.LOCK_MS}" in options
