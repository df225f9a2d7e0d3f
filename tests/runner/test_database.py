"""The template is the migrated database."""

from __future__ import annotations

import sqlite3

import pytest
from django.core.management import call_command
from django.db import connection

from ledger.models import Entry
from tests.runner.database import get_sqlite_template


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
