"""System checks: settings and databases that would break a promise.

`manage.py check` looks at the settings, `manage.py check --deploy --database default` at
the database too. A server looks at both, and does not start with a fault.
"""

from __future__ import annotations

import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, register, run_checks
from django.core.exceptions import ImproperlyConfigured
from django.db import connection

from common.append_only import list_faults
from common.commands import SETTINGS
from config.database.data_folder import DATABASE, KEY_FILE
from config.database.version import find_version_fault

SHORTEST_SECRET = 50


def refuse_unsafe() -> None:
    """Raise one error that lists everything a person must mend."""
    faults = run_checks(
        tags=[SETTINGS], include_deployment_checks=True, databases=["default"]
    )
    if faults:
        raise ImproperlyConfigured(
            "Checkrail does not start like this:\n- "
            + "\n- ".join(str(fault.msg) for fault in faults)
        )


@register(SETTINGS)
def check_settings(**_options: Any) -> list[CheckMessage]:
    return [*find_setting_faults()]


@register(SETTINGS)
def check_data_folder(**_options: Any) -> list[CheckMessage]:
    return [*find_data_faults(settings.ENVIRONMENT.data)] if settings.EMBEDDED else []


# For deployment alone: `migrate` has to run while the database is not as it should be.
@register(SETTINGS, Tags.database, deploy=True)
def check_database(
    databases: Sequence[str] | None = None, **_options: Any
) -> list[CheckMessage]:
    return [*find_database_faults()] if databases else []


def find_setting_faults() -> Iterator[Error]:
    if settings.DEBUG:
        yield _build_fault(
            3, "DEBUG is on: it shows secrets on error pages. Turn it off."
        )
    if len(settings.SECRET_KEY) < SHORTEST_SECRET or len(set(settings.SECRET_KEY)) < 5:
        yield _build_fault(
            4, f"SECRET_KEY is weak: use {SHORTEST_SECRET} or more random characters."
        )
    if settings.SECRET_KEY.startswith("django-insecure-"):
        yield _build_fault(5, "SECRET_KEY is Django's example: make your own.")
    if "*" in settings.ALLOWED_HOSTS or any("*" in o for o in settings.ORIGINS):
        yield _build_fault(
            6, "CHECKRAIL_HOSTS and CHECKRAIL_ORIGINS must name hosts: no *."
        )
    if not all(_is_origin(origin) for origin in settings.ORIGINS):
        yield _build_fault(
            7,
            "CHECKRAIL_ORIGINS takes full origins, such as https://checkrail.example.",
        )
    if settings.EMBEDDED:
        return
    if not settings.ALLOWED_HOSTS:
        yield _build_fault(
            8, "CHECKRAIL_HOSTS is missing: name the hosts people reach Checkrail by."
        )
    if not settings.ORIGINS:
        yield _build_fault(
            9, "CHECKRAIL_ORIGINS is missing: for example https://checkrail.example."
        )
    layer = settings.CHANNEL_LAYERS["default"]["BACKEND"]
    if layer == "channels.layers.InMemoryChannelLayer":
        yield _build_fault(
            10,
            "REDIS_URL is missing: with DATABASE_URL there may be several processes, "
            "and they reach each other through Redis.",
        )


def _build_fault(number: int, text: str) -> Error:
    return Error(text, id=f"config.E{number:03}")


def _is_origin(text: str) -> bool:
    """Scheme, host and perhaps a port: what a browser sends as Origin."""
    parts = urlsplit(text)
    whole = f"{parts.scheme}://{parts.netloc}"
    return parts.scheme in {"http", "https"} and bool(parts.netloc) and text == whole


def find_database_faults() -> Iterator[Error]:
    other_version = find_version_fault()
    if other_version is not None:
        yield _build_fault(2, other_version)
        return
    for fault in list_faults():
        yield _build_fault(
            11,
            f"{fault} Run manage.py migrate; if it stays so, find out who did it, then "
            "run manage.py ledger_verify and manage.py ledger_protect.",
        )
    if connection.vendor == "postgresql":
        for name in ("fsync", "synchronous_commit", "full_page_writes"):
            if _read_value(f"SHOW {name}") == "off":
                yield _build_fault(
                    12, f"PostgreSQL has {name} off: a crash would lose answers."
                )
        return
    if _read_value("PRAGMA journal_mode") != "wal":
        yield _build_fault(
            13, "SQLite is not in WAL mode: is the data folder on a local disk?"
        )
    if _read_value("PRAGMA synchronous") != "2":
        yield _build_fault(14, "SQLite does not run with synchronous=FULL.")
    if connection.transaction_mode != "IMMEDIATE":  # type: ignore[attr-defined]
        yield _build_fault(15, "SQLite does not begin its transactions with IMMEDIATE.")


def find_data_faults(folder: Path) -> Iterator[Error]:
    """What `prepare_data` could not mend."""
    mode = folder.stat().st_mode
    if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
        yield _build_fault(
            16,
            f"The data folder {folder} can be written by other users of this machine: "
            "give Checkrail a folder of its own with CHECKRAIL_DATA.",
        )
    for name in (DATABASE, KEY_FILE):
        path = folder / name
        if path.exists() and path.stat().st_mode & stat.S_IRWXO:
            yield _build_fault(
                17, f"{path} is open to other users of this machine: chmod 600 it."
            )


def _read_value(statement: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return str(cursor.fetchone()[0])
