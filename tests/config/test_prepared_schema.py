"""An empty SQLite database is made at once, and is the very one that migrating makes."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import django
import pytest
from django.apps import apps
from django.db import connection
from django.db.backends.sqlite3.base import DatabaseWrapper

from common import append_only
from config.database import prepared
from config.database.prepared import (
    HEADING,
    PREPARED,
    compute_migrations_digest,
    create_prepared_schema,
)
from config.management.commands import up
from tests.runner.schema import FILLED, build_script, list_filled_tables
from tests.support.processes import DATABASE, manage

pytestmark = pytest.mark.once("looks at files that SQLite makes")


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A database of its own, in which nothing is yet."""
    path = tmp_path / "empty.sqlite3"
    own = DatabaseWrapper({**connection.settings_dict, "NAME": str(path)}, "own")
    monkeypatch.setattr(prepared, "connection", own)
    yield path
    own.close()


def read(path: Path) -> str:
    with closing(sqlite3.connect(path)) as database:
        return build_script(database)


def list_names(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as database:
        rows = database.execute("SELECT name FROM sqlite_master").fetchall()
    return [name for (name,) in rows]


@pytest.fixture(scope="module")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database that every migration has run over."""
    folder = tmp_path_factory.mktemp("migrated")
    ended = manage("migrate", CHECKRAIL_DATA=str(folder))
    assert ended.returncode == 0, ended.stderr
    return folder / DATABASE


def test_the_file_is_what_migrating_makes(migrated: Path) -> None:
    heading, _, script = PREPARED.read_text().partition("\n")
    assert heading == HEADING + compute_migrations_digest(), "run `make schema`"
    assert script == read(migrated), "run `make schema`"


def test_a_migrated_database_has_no_other_rows(migrated: Path) -> None:
    with closing(sqlite3.connect(migrated)) as database:
        assert list_filled_tables(database) == set(FILLED)


def test_what_is_made_of_it_is_the_same_again(empty: Path) -> None:
    assert create_prepared_schema()
    assert read(empty) == PREPARED.read_text().partition("\n")[2]


def test_nothing_is_left_to_migrate_and_every_table_is_protected(
    tmp_path: Path,
) -> None:
    with closing(sqlite3.connect(tmp_path / DATABASE)) as made:
        made.executescript(PREPARED.read_text())
    ended = manage("migrate", "--check", CHECKRAIL_DATA=str(tmp_path))
    assert ended.returncode == 0, ended.stderr
    protected = manage("ledger_verify", CHECKRAIL_DATA=str(tmp_path))
    assert protected.returncode == 0, protected.stderr


@pytest.mark.parametrize("prepares", [True, False])
def test_the_server_migrates_only_what_was_not_prepared(
    monkeypatch: pytest.MonkeyPatch, database: None, *, prepares: bool
) -> None:
    migrated: list[str] = []
    monkeypatch.setattr(up, "has_every_migration", lambda: False)
    monkeypatch.setattr(up, "create_prepared_schema", lambda: prepares)
    monkeypatch.setattr(up, "call_command", lambda name, **_: migrated.append(name))
    up.Command()._prepare_database()
    assert migrated == ([] if prepares else ["migrate"])


def test_a_database_that_has_a_table_is_left_alone(empty: Path) -> None:
    with closing(sqlite3.connect(empty)) as database:
        database.execute("CREATE TABLE somebodys (id integer)")
    assert not create_prepared_schema()
    assert list_names(empty) == ["somebodys"]


def test_a_file_of_other_migrations_is_not_used(
    empty: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    other = tmp_path / "schema.sql"
    other.write_text(
        PREPARED.read_text().replace(compute_migrations_digest(), "0" * 64)
    )
    monkeypatch.setattr(prepared, "PREPARED", other)
    with caplog.at_level(logging.WARNING):
        assert not create_prepared_schema()
    assert "the database is migrated instead" in caplog.text
    assert list_names(empty) == []


def test_trouble_leaves_nothing_behind(
    empty: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "schema.sql"
    broken.write_text(PREPARED.read_text() + "INSERT INTO nowhere VALUES (1);\n")
    monkeypatch.setattr(prepared, "PREPARED", broken)
    with pytest.raises(sqlite3.OperationalError, match="nowhere"):
        create_prepared_schema()
    assert list_names(empty) == []


def test_every_migration_is_part_of_the_digest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    migrations = tmp_path / "migrations"
    migrations.mkdir()
    app = SimpleNamespace(name="ledger", label="ledger", path=str(tmp_path))
    monkeypatch.setattr(apps, "get_app_configs", lambda: [app])
    digests = {compute_migrations_digest()}
    for name, text in (("0001_a", "one"), ("0001_a", "other"), ("0002_b", "one")):
        (migrations / f"{name}.py").write_text(text)
        digests.add(compute_migrations_digest())
    (migrations / "0002_b.py").rename(migrations / "0003_b.py")
    digests.add(compute_migrations_digest())
    monkeypatch.setitem(append_only.KEYS, "another", (("id",),))
    digests.add(compute_migrations_digest())
    (tmp_path / "triggers.py").write_text("triggers")
    monkeypatch.setattr(append_only, "__file__", str(tmp_path / "triggers.py"))
    digests.add(compute_migrations_digest())
    monkeypatch.setattr(django, "get_version", lambda: "another")
    digests.add(compute_migrations_digest())

    assert len(digests) == 8
