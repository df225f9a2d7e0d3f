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
class Notes:
    """By path: the way in which the hooks there ask, and the digest of the key there."""

    hooks: dict[str, str] = field(default_factory=dict)
    keys: dict[str, str] = field(default_factory=dict)


def digest_key(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()


def read_notes() -> Notes:
    try:
        noted = json.loads(locations.installed_file().read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return Notes()
    if not isinstance(noted, dict):
        return Notes()
    if isinstance(noted.get("hooks"), dict):
        return Notes(_texts(noted["hooks"]), _texts(noted.get("keys")))
    return _read_first_format(_texts(noted))


def store_notes(notes: Notes) -> None:
    if notes.hooks or notes.keys:
        text = json.dumps(asdict(notes), indent=2)
        write_private(locations.installed_file(), text + "\n")
    else:
        locations.installed_file().unlink(missing_ok=True)


def _read_first_format(hooks: dict[str, str]) -> Notes:
    """It had the hooks alone. The command hook's own file is ours where they use it."""
    kept = locations.key_file()
    if COMMAND not in hooks.values() or not kept.is_file():
        return Notes(hooks)
    key = kept.read_text(encoding="utf-8").strip()
    return Notes(hooks, {str(kept.resolve()): digest_key(key)})


def _texts(document: Any) -> dict[str, str]:
    parts = document.items() if isinstance(document, dict) else ()
    return {name: part for name, part in parts if isinstance(part, str)}
