"""Whether this version of Checkrail can use the database: it knows all its migrations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, register
from django.db import connection
from django.db.migrations.loader import MigrationLoader


def find_version_fault() -> str | None:
    """A sentence that says what to do, if another version made the database."""
    unknown = _find_unknown_migration()
    if unknown is None:
        return None
    database = connection.settings_dict["NAME"]
    empty = "move this file away" if settings.EMBEDDED else "name one in DATABASE_URL"
    return (
        f"{database} was made by another version of Checkrail (this one does not know "
        f"its migration {unknown}): start with an empty database ({empty}) or run the "
        "version that made it."
    )


def has_every_migration() -> bool:
    loader = MigrationLoader(connection)
    return loader.applied_migrations.keys() >= loader.disk_migrations.keys()


def _find_unknown_migration() -> str | None:
    loader = MigrationLoader(connection)
    unknown = loader.applied_migrations.keys() - loader.disk_migrations.keys()
    # Those of Django's own apps are left to Django.
    ours = sorted(key for key in unknown if not _is_django(key[0]))
    return ".".join(ours[0]) if ours else None


def _is_django(label: str) -> bool:
    app = apps.app_configs.get(label)
    return app is not None and app.name.startswith("django.")


@register(Tags.database)
def check_database_version(
    databases: Sequence[str] | None = None, **_options: Any
) -> list[CheckMessage]:
    """Part of `manage.py migrate`, before it changes anything."""
    fault = find_version_fault() if databases else None
    return [Error(fault, id="config.E002")] if fault else []
