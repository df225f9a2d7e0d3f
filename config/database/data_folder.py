"""The folder of the embedded profile: what lies in it is for this user alone."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

DATABASE = "checkrail.sqlite3"
KEY_FILE = "secret_key"
OTHERS = 0o077
_OURS = ("checkrail", KEY_FILE, "test.sqlite3")


def prepare_data(folder: Path) -> bool:
    """Make the folder and an empty database, both private; True if they were not.

    SQLite gives its log files the mode of the database, so that this is enough. A
    folder with other things in it is somebody's: it stays, and our files are private.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        opened = False
        entries = list(folder.iterdir())
        if all(entry.name.startswith(_OURS) for entry in entries):
            opened = _close(folder, 0o700)
        for entry in entries:
            if entry.is_file() and entry.name.startswith((DATABASE, KEY_FILE)):
                opened = _close(entry, 0o600) or opened
        path = folder / DATABASE
        if path not in entries:
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
    except OSError as error:
        raise ImproperlyConfigured(
            f"The data folder {folder} cannot be used ({error.strerror}). Set "
            "CHECKRAIL_DATA to one that can be written."
        ) from None
    return opened


def _close(path: Path, mode: int) -> bool:
    """Take from others what they may; only an owner can, and nobody else need."""
    found = path.stat()
    if not stat.S_IMODE(found.st_mode) & OTHERS or found.st_uid != os.geteuid():
        return False
    path.chmod(mode)
    return True
