"""The agent's key of an installation: kept for its user alone, as long as hooks use it.

The command hook reads it from a file of its own. HTTP hooks need it in the environment of
Claude Code, which takes it from the user's settings. Neither lies in a project's folder,
where it could be committed. Which settings hold our hooks is noted, so that the key goes
with the last of them.
"""

from __future__ import annotations

import json
from pathlib import Path

from checkrail.hooks import places
from checkrail.hooks.files import (
    KEY,
    BadSettings,
    read_document,
    without_key,
    write_document,
    write_private,
)
from checkrail.hooks.settings import has_hooks

COMMAND, HTTP = "command", "http"


def keep_key(key: str, *, way: str) -> str:
    """Where it is kept, in a sentence."""
    if way == COMMAND:
        path = places.key_file()
        write_private(path, key + "\n")
    else:
        path = places.claude_settings()
        document = read_document(path)
        if document.get("env", {}).get(KEY) != key:
            document = without_key(document)
            document.setdefault("env", {})[KEY] = key
            write_document(path, document)
        path.resolve().chmod(0o600)
    return f"The key is kept in {path}, for you alone."


def note_hooks(path: Path, *, way: str) -> None:
    """These settings hold our hooks now, and by which way they ask."""
    _store({**_noted(), str(path.resolve()): way})


def forget_hooks(path: Path) -> None:
    noted = _noted()
    noted.pop(str(path.resolve()), None)
    _store(noted)


def remove_unused_keys(folder: Path, *, uninstalling: bool) -> list[str]:
    """Take out every key that no installed hook reads, and say what was done."""
    noted = _noted()
    used = {path: noted[path] for path in noted if _may_have_hooks(Path(path))}
    said = []
    if places.key_file().exists():
        users = [path for path, way in used.items() if way == COMMAND]
        if users and uninstalling:
            others = ", ".join(users)
            said.append(f"The key stays in {places.key_file()}: {others} use it.")
        elif not users:
            places.key_file().unlink()
            said.append(f"The key was removed from {places.key_file()}.")
    local = _local_settings(folder)
    kept = [local] if HTTP in used.values() else [local, places.claude_settings()]
    said += [f"The key was removed from {path}." for path in kept if _take_out(path)]
    return said


def get_local_key(folder: Path) -> str | None:
    """Earlier versions kept it in the project."""
    environment = read_document(_local_settings(folder)).get("env")
    key = environment.get(KEY) if isinstance(environment, dict) else None
    return key if isinstance(key, str) else None


def _local_settings(folder: Path) -> Path:
    return folder / ".claude" / "settings.local.json"


def _take_out(path: Path) -> bool:
    document = read_document(path)
    left = without_key(document)
    if left == document:
        return False
    write_document(path, left)
    return True


def _may_have_hooks(path: Path) -> bool:
    try:
        return has_hooks(read_document(path))
    except (BadSettings, OSError):
        return True  # not ours to judge: they may well be in it


def _noted() -> dict[str, str]:
    try:
        noted = json.loads(places.installed_file().read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return {}
    return noted if isinstance(noted, dict) else {}


def _store(noted: dict[str, str]) -> None:
    if noted:
        write_private(places.installed_file(), json.dumps(noted, indent=2) + "\n")
    else:
        places.installed_file().unlink(missing_ok=True)
