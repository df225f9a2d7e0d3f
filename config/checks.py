"""Settings that would break a promise: the server refuses to start with them."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import run_checks
from django.core.exceptions import ImproperlyConfigured
from django.db import connection

from common.append_only import list_faults
from config.database_version import find_version_fault
from config.sqlite.data_folder import DATABASE, KEY_FILE

SHORTEST_SECRET = 50


def refuse_unsafe() -> None:
    """Raise one error that lists everything a person must mend."""
    faults = [*setting_faults(), *database_faults()]
    if settings.EMBEDDED:
        faults += list_data_faults(settings.ENVIRONMENT.data)
    if faults:
        raise ImproperlyConfigured(
            "Checkrail does not start like this:\n- " + "\n- ".join(faults)
        )


def setting_faults() -> Iterator[str]:
    # What an app says of its own settings.
    for message in run_checks(tags=["settings"]):
        yield message.msg
    if settings.DEBUG:
        yield "DEBUG is on: it shows secrets on error pages. Turn it off."
    if len(settings.SECRET_KEY) < SHORTEST_SECRET or len(set(settings.SECRET_KEY)) < 5:
        yield (f"SECRET_KEY is weak: use {SHORTEST_SECRET} or more random characters.")
    if settings.SECRET_KEY.startswith("django-insecure-"):
        yield "SECRET_KEY is Django's example: make your own."
    if "*" in settings.ALLOWED_HOSTS or any("*" in o for o in settings.ORIGINS):
        yield "CHECKRAIL_HOSTS and CHECKRAIL_ORIGINS must name hosts: no *."
    if not all(_is_origin(origin) for origin in settings.ORIGINS):
        yield "CHECKRAIL_ORIGINS takes full origins, such as https://checkrail.example."
    if settings.EMBEDDED:
        return
    if not settings.ALLOWED_HOSTS:
        yield "CHECKRAIL_HOSTS is missing: name the hosts people reach Checkrail by."
    if not settings.ORIGINS:
        yield "CHECKRAIL_ORIGINS is missing: for example https://checkrail.example."
    layer = settings.CHANNEL_LAYERS["default"]["BACKEND"]
    if layer == "channels.layers.InMemoryChannelLayer":
        yield (
            "REDIS_URL is missing: with DATABASE_URL there may be several processes, "
            "and they reach each other through Redis."
        )


def _is_origin(text: str) -> bool:
    """Scheme, host and perhaps a port: what a browser sends as Origin."""
    parts = urlsplit(text)
    whole = f"{parts.scheme}://{parts.netloc}"
    return parts.scheme in {"http", "https"} and bool(parts.netloc) and text == whole


def database_faults() -> Iterator[str]:
    fault = find_version_fault()
    if fault is not None:
        yield fault
        return
    for fault in list_faults():
        yield (
            f"{fault} Run manage.py migrate; if it stays so, find out who did it, then "
            "run manage.py ledger_verify and manage.py ledger_protect."
        )
    if connection.vendor == "postgresql":
        for name in ("fsync", "synchronous_commit", "full_page_writes"):
            value = _shown(f"SHOW {name}")
            if value == "off":
                yield f"PostgreSQL has {name} off: a crash would lose answers."
        return
    if _shown("PRAGMA journal_mode") != "wal":
        yield "SQLite is not in WAL mode: is the data folder on a local disk?"
    if _shown("PRAGMA synchronous") != "2":
        yield "SQLite does not run with synchronous=FULL."
    if connection.transaction_mode != "IMMEDIATE":  # type: ignore[attr-defined]
        yield "SQLite does not begin its transactions with IMMEDIATE."


def list_data_faults(folder: Path) -> Iterator[str]:
    """What `prepare_data` could not mend."""
    mode = folder.stat().st_mode
    if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
        yield (
            f"The data folder {folder} can be written by other users of this machine: "
            "give Checkrail a folder of its own with CHECKRAIL_DATA."
        )
    for name in (DATABASE, KEY_FILE):
        path = folder / name
        if path.exists() and path.stat().st_mode & stat.S_IRWXO:
            yield f"{path} is open to other users of this machine: chmod 600 it."


def _shown(statement: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return str(cursor.fetchone()[0])
