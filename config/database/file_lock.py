"""One server per SQLite file: two would not hear of each other's commits."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured
from django.db import connection

# Their descriptors stay open until the process ends.
_held: set[Path] = set()


def hold_database_file() -> None:
    """Take the file for this process until it ends; again is harmless."""
    path = Path(f"{connection.settings_dict['NAME']}.lock")
    if path in _held:
        return
    # Private like all that lies beside it.
    lock = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        raise ImproperlyConfigured(
            f"Another Checkrail process already serves {path.parent}. One process is "
            "all that SQLite takes: stop the other one, give this one a folder of its "
            "own with --data, or use DATABASE_URL and REDIS_URL."
        ) from None
    _held.add(path)
