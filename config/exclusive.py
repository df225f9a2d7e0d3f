"""One server per SQLite file: two would not hear of each other's commits."""

from __future__ import annotations

import fcntl
from pathlib import Path
from typing import IO

from django.core.exceptions import ImproperlyConfigured
from django.db import connection

_held: dict[Path, IO[str]] = {}


def hold_database_file() -> None:
    """Take the file for this process until it ends; again is harmless."""
    path = Path(f"{connection.settings_dict['NAME']}.lock")
    if path in _held:
        return
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = path.open("w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.close()
        raise ImproperlyConfigured(
            f"Another Checkrail process already serves {path.parent}. One process is "
            "all that SQLite takes: stop the other one, give this one a folder of its "
            "own with --data, or use DATABASE_URL and REDIS_URL."
        ) from None
    _held[path] = lock
