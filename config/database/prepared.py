"""The schema of an empty SQLite database, prepared from the migrations (docs/adr/0040).

Migrating an empty database takes a hundred times as long as creating its tables, as Django
builds every model anew for each migration. `make schema` writes the file.
"""

from __future__ import annotations

import hashlib
import logging
from pathlib import Path

import django
from django.apps import apps
from django.db import connection

from common import append_only

PREPARED = Path(__file__).with_name("schema.sql")
# Its first line, before the digest of the migrations that it was made from.
HEADING = "-- Made by `make schema` from the migrations "

logger = logging.getLogger(__name__)


def create_prepared_schema() -> bool:
    """Create all tables at once; False, and nothing done, where migrations have to."""
    if connection.vendor != "sqlite" or _has_tables():
        return False
    heading, _, script = PREPARED.read_text().partition("\n")
    if heading != HEADING + compute_migrations_digest():
        logger.warning(
            "%s is not made from these migrations: the database is migrated instead, "
            "which takes longer.",
            PREPARED.name,
        )
        return False
    connection.ensure_connection()
    try:
        connection.connection.executescript(f"BEGIN EXCLUSIVE;\n{script}\nCOMMIT;")
    except BaseException:
        connection.connection.rollback()
        raise
    return True


def compute_migrations_digest() -> str:
    """Over all migrations, what ours take their triggers from, and Django's version."""
    digest = hashlib.sha256(django.get_version().encode())
    digest.update(Path(append_only.__file__).read_bytes())
    digest.update(repr(sorted(append_only.KEYS.items())).encode())
    for app in sorted(apps.get_app_configs(), key=lambda app: app.name):
        for path in sorted(Path(app.path, "migrations").glob("*.py")):
            digest.update(f"{app.label}/{path.name}\0".encode() + path.read_bytes())
    return digest.hexdigest()


def _has_tables() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT EXISTS (SELECT 1 FROM sqlite_master)")
        return bool(cursor.fetchone()[0])
