"""The agent's key of an installation: kept for its user alone, as long as hooks use it.

The command hook reads it from a file of its own. HTTP hooks need it in the environment of
Claude Code, which takes it from the user's settings. Neither lies in a project's folder,
where it could be committed. A key that its user has put somewhere is never touched.
"""

from __future__ import annotations

from pathlib import Path

from checkrail.hooks import locations
from checkrail.hooks.records import (
    COMMAND,
    HTTP,
    hash_key,
    read_records,
    store_records,
)
from checkrail.hooks.settings_files import (
    KEY,
    BadSettings,
    SettingsFiles,
    get_key,
    read_document,
    remove_key,
    write_private,
)
from checkrail.hooks.settings_hooks import has_hooks


def refuse_to_replace(key: str) -> None:
    """Before anything is written: HTTP hooks would need another key than the user's own."""
    path = locations.get_claude_settings()
    document = read_document(path)
    if not isinstance(document.get("env", {}), dict):
        raise BadSettings(f"`env` in {path} is no object: mend it first.")
    found = get_key(document)
    if found not in {None, key} and not _is_ours(path, found):
        raise BadSettings(
            f"{path} has a {KEY} of your own: take it out first, or leave --key out."
        )


def keep_key(key: str, *, way: str, settings: SettingsFiles) -> str:
    """Where it is kept, in a sentence."""
    path = (
        locations.get_key_file() if way == COMMAND else locations.get_claude_settings()
    )
    found = _read_key(path)
    # One that lay there before us may be in use by hooks that we know nothing of.
    ours = found is None or _is_ours(path, found)
    if way == COMMAND:
        write_private(path, key + "\n")
    else:
        if found != key:
            document = remove_key(read_document(path))
            document.setdefault("env", {})[KEY] = key
            settings.write(path, document)
        path.resolve().chmod(0o600)
    if ours:
        notes = read_records()
        notes.keys[str(path.resolve())] = hash_key(key)
        store_records(notes)
    return f"The key is kept in {path}, for you alone."


def record_hooks(path: Path, *, way: str) -> None:
    """These settings hold our hooks now, and by which way they ask."""
    notes = read_records()
    notes.hooks[str(path.resolve())] = way
    store_records(notes)


def forget_hooks(path: Path) -> None:
    notes = read_records()
    notes.hooks.pop(str(path.resolve()), None)
    store_records(notes)


def remove_unused_keys(settings: SettingsFiles, *, say_kept: bool) -> list[str]:
    """Take out every key of ours that no installed hook reads, and say what was done."""
    sentences = []
    notes = read_records()
    for place, digest in [*notes.keys.items()]:
        path = Path(place)
        users = _list_users(path)
        if users:
            if say_kept:
                sentences.append(f"The key stays in {path}: {', '.join(users)} use it.")
            continue
        if _remove_key(path, {digest}, settings):
            sentences.append(f"The key was removed from {path}.")
        del notes.keys[place]
        store_records(notes)
    return sentences


def remove_local_key(folder: Path, settings: SettingsFiles) -> list[str]:
    """Earlier versions kept it in the project: it goes if it is one that we know as ours."""
    path = _get_local_settings(folder)
    known = set(read_records().keys.values())
    try:
        removed = _remove_key(path, known, settings)
    except BadSettings as error:
        return [str(error)]
    return [f"The key was removed from {path}."] if removed else []


def list_other_keys(folder: Path) -> list[str]:
    """A sentence for each key that stays, because we did not put it there."""
    noted = read_records().keys
    candidates = (
        locations.get_key_file(),
        locations.get_claude_settings(),
        _get_local_settings(folder),
    )
    return [
        f"The key in {path} stays: it is not known to be of this installation."
        for path in candidates
        if str(path.resolve()) not in noted and _may_have_key(path)
    ]


def _may_have_key(path: Path) -> bool:
    try:
        return _read_key(path) is not None
    except BadSettings:
        return False


def _get_local_settings(folder: Path) -> Path:
    return folder / ".claude" / "settings.local.json"


def _is_ours(path: Path, key: str | None) -> bool:
    noted = read_records().keys.get(str(path.resolve()))
    return key is not None and noted == hash_key(key)


def _is_key_file(path: Path) -> bool:
    return path.resolve() == locations.get_key_file().resolve()


def _read_key(path: Path) -> str | None:
    if not _is_key_file(path):
        return get_key(read_document(path))
    return path.read_text(encoding="utf-8").strip() if path.is_file() else None


def _remove_key(path: Path, known: set[str], settings: SettingsFiles) -> bool:
    key = _read_key(path)
    if key is None or hash_key(key) not in known:
        return False
    if _is_key_file(path):
        path.unlink()
    else:
        settings.write(path, remove_key(read_document(path)))
    return True


def _list_users(path: Path) -> list[str]:
    wanted = COMMAND if _is_key_file(path) else HTTP
    return [
        place
        for place, way in read_records().hooks.items()
        if way == wanted and _may_have_hooks(Path(place))
    ]


def _may_have_hooks(path: Path) -> bool:
    try:
        return has_hooks(read_document(path))
    except (BadSettings, OSError):
        return True  # not ours to judge: they may well be in it
