"""The template is the migrated database, and a changed migration makes another."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from types import SimpleNamespace

import django
import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import connection

from common import append_only
from ledger.models import Entry
from tests.runner.database import _get_key, get_sqlite_template


def get_key(folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    app = SimpleNamespace(name="ledger", label="ledger", path=str(folder))
    monkeypatch.setattr(apps, "get_app_configs", lambda: [app])
    return _get_key()


def test_every_migration_is_part_of_the_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    migrations = tmp_path / "migrations"
    migrations.mkdir()
    keys = {get_key(tmp_path, monkeypatch)}
    for name, text in (("0001_a", "one"), ("0001_a", "other"), ("0002_b", "one")):
        (migrations / f"{name}.py").write_text(text)
        keys.add(get_key(tmp_path, monkeypatch))
    (migrations / "0002_b.py").rename(migrations / "0003_b.py")
    keys.add(get_key(tmp_path, monkeypatch))
    (tmp_path / "apps.py").write_text("triggers")
    keys.add(get_key(tmp_path, monkeypatch))
    monkeypatch.setattr(append_only, "__file__", str(tmp_path / "apps.py"))
    keys.add(get_key(tmp_path, monkeypatch))
    monkeypatch.setattr(django, "get_version", lambda: "another")
    keys.add(get_key(tmp_path, monkeypatch))

    assert len(keys) == 8


def test_a_copy_has_nothing_left_to_migrate(database: None) -> None:
    call_command("migrate", check_unapplied=True, verbosity=0)


def test_the_template_of_sqlite_has_no_rows(database: None) -> None:
    if connection.vendor != "sqlite":
        pytest.skip(
            "the template of PostgreSQL takes no connections while it is copied"
        )
    with sqlite3.connect(get_sqlite_template()) as template:
        entries = f"SELECT count(*) FROM {Entry._meta.db_table}"
        assert template.execute(entries).fetchone() == (0,)
