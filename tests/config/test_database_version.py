"""A database that another version made is refused in one sentence, and left as it is."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from celery.signals import beat_init, worker_init
from celery.utils.dispatch import Signal
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from config.celery import refuse_other_version
from config.checks import refuse_unsafe
from config.database.version import find_version_fault, has_every_migration
from tests.support.processes import manage

UNKNOWN = "ledger.0002_append_only"


@pytest.fixture
def another_version(database: None) -> Iterator[None]:
    recorder = MigrationRecorder(connection)
    recorder.record_applied(*UNKNOWN.split("."))
    yield
    recorder.record_unapplied(*UNKNOWN.split("."))


def test_the_server_does_not_start(another_version: None) -> None:
    with pytest.raises(ImproperlyConfigured, match=UNKNOWN):
        refuse_unsafe()


@pytest.mark.parametrize("signal", [worker_init, beat_init])
def test_background_work_does_not_start(another_version: None, signal: Signal) -> None:
    with pytest.raises(SystemExit, match=UNKNOWN):
        signal.send(sender=None)


def test_migrate_refuses_it(another_version: None) -> None:
    with pytest.raises(SystemCheckError, match=UNKNOWN):
        call_command("migrate", skip_checks=False, verbosity=0)


def test_a_database_of_this_version_has_nothing_to_refuse(database: None) -> None:
    refuse_unsafe()
    refuse_other_version()
    call_command("migrate", skip_checks=False, verbosity=0)


def test_apps_of_django_are_left_to_django_and_all_others_are_ours(
    database: None,
) -> None:
    recorder = MigrationRecorder(connection)
    for app, fault in (("auth", None), ("sessions", None), ("gone_app", "gone_app")):
        recorder.record_applied(app, "9999_later")
        try:
            found = find_version_fault()
        finally:
            recorder.record_unapplied(app, "9999_later")
        assert (found is None) == (fault is None)
        assert fault is None or f"{fault}.9999_later" in str(found)


def test_a_migration_that_is_missing_is_noticed(database: None) -> None:
    assert has_every_migration()
    recorder = MigrationRecorder(connection)
    recorder.record_unapplied("accounts", "0001_initial")
    try:
        assert not has_every_migration()
    finally:
        recorder.record_applied("accounts", "0001_initial")


@pytest.mark.once("looks at the file that SQLite makes")
@pytest.mark.parametrize("command", [("migrate",), ("up", "--port=0")])
def test_a_person_reads_one_sentence(command: tuple[str, ...], tmp_path: Path) -> None:
    path = _earlier_database(tmp_path)
    tables = _tables(path)

    ended = manage(*command, CHECKRAIL_DATA=str(tmp_path))

    assert ended.returncode == 1
    assert "Traceback" not in ended.stderr
    assert (
        f"{path} was made by another version of Checkrail (this one does not know its "
        f"migration {UNKNOWN}): start with an empty database (move this file away) or "
        "run the version that made it."
    ) in ended.stderr
    assert _tables(path) == tables


def _earlier_database(folder: Path) -> Path:
    path = folder / "checkrail.sqlite3"
    with sqlite3.connect(path) as database:
        database.execute(
            "CREATE TABLE django_migrations (id integer PRIMARY KEY, app varchar(255), "
            "name varchar(255), applied datetime)"
        )
        database.execute("CREATE TABLE ledger_entry (id integer PRIMARY KEY)")
        for name in ("0001_initial", "0002_append_only", "0005_refuse_replace"):
            database.execute(
                "INSERT INTO django_migrations (app, name, applied) "
                "VALUES ('ledger', ?, '2026-01-01')",
                [name],
            )
    database.close()
    return path


def _tables(path: Path) -> list[tuple[str, str]]:
    database = sqlite3.connect(path)
    try:
        return database.execute("SELECT name, sql FROM sqlite_master").fetchall()
    finally:
        database.close()
