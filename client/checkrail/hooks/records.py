"""What our installations have written on this machine: only that is ever taken out again.

Noted are the settings that hold our hooks, and where a key was put. Of a key we keep a
digest, which tells whether the one that lies there now is still ours.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from typing import Any

from checkrail.hooks import locations
from checkrail.hooks.settings_files import write_private

COMMAND, HTTP = "command", "http"


@dataclass
class Records:
    """By path: the way in which the hooks there ask, and the digest of the key there."""

    hooks: dict[str, str] = field(default_factory=dict)
    keys: dict[str, str] = field(default_factory=dict)


def hash_key(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()


def read_records() -> Records:
    try:
        noted = json.loads(locations.get_records_file().read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return Records()
    if not isinstance(noted, dict):
        return Records()
    if isinstance(noted.get("hooks"), dict):
        return Records(_keep_texts(noted["hooks"]), _keep_texts(noted.get("keys")))
    return _read_first_format(_keep_texts(noted))


def store_records(notes: Records) -> None:
    if notes.hooks or notes.keys:
        text = json.dumps(asdict(notes), indent=2)
        write_private(locations.get_records_file(), text + "\n")
    else:
        locations.get_records_file().unlink(missing_ok=True)


def _read_first_format(hooks: dict[str, str]) -> Records:
    """It had the hooks alone. The command hook's own file is ours where they use it."""
    kept = locations.get_key_file()
    if COMMAND not in hooks.values() or not kept.is_file():
        return Records(hooks)
    key = kept.read_text(encoding="utf-8").strip()
    return Records(hooks, {str(kept.resolve()): hash_key(key)})


def _keep_texts(document: Any) -> dict[str, str]:
    parts = document.items() if isinstance(document, dict) else ()
    return {name: part for name, part in parts if isinstance(part, str)}
