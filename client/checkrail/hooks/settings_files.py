"""A host's settings file: read, changed, and put back whole, with a copy elsewhere."""

from __future__ import annotations

import copy
import hashlib
import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any

from checkrail.hooks import locations

Document = dict[str, Any]
KEY = "CHECKRAIL_KEY"


class BadSettings(Exception):
    """A file that we must not touch; the words say what is wrong with it."""


def read_document(path: Path) -> Document:
    if not path.exists():
        return {}
    try:
        text = path.read_text(encoding="utf-8")
        document = json.loads(text) if text.strip() else {}
    except ValueError as error:  # also of bytes that are no UTF-8
        raise BadSettings(
            f"{path} is no valid JSON ({error}): mend it first."
        ) from None
    if not isinstance(document, dict):
        raise BadSettings(f"{path} holds no JSON object: mend it first.")
    return document


class SettingsFiles:
    """What one installation changes. Of each file, the first content is copied."""

    def __init__(self) -> None:
        self._written: dict[Path, Path | None] = {}

    def write(self, path: Path, document: Document) -> None:
        """In one piece, after a copy of what was there."""
        path = path.resolve()  # behind a link, the file itself is changed
        exists = path.exists()
        mode = path.stat().st_mode & 0o777 if exists else 0o600
        if path not in self._written:
            self._written[path] = _copy(path) if exists else None
        write_private(path, _format_json(document), mode=mode)

    def get_copy(self, path: Path) -> Path | None:
        """None where nothing was changed, or nothing was there."""
        return self._written.get(path.resolve())


def _copy(path: Path) -> Path:
    """For its owner alone, outside the project, and without the agent's key: settings
    may hold secrets, and a copy beside them could be committed."""
    before = read_document(path)
    left = remove_key(before)
    text = path.read_text(encoding="utf-8") if left == before else _format_json(left)
    # Folders may have the same name, and installations come in the same second.
    place = f"{path.parent.parent.name}-{_hash_path(path)}-{path.name}"
    name = f"{place}.before-checkrail-{time.strftime('%Y%m%dT%H%M%S')}"
    made, handle = _create(locations.get_copies_folder(), name)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    return made


def _create(folder: Path, name: str, *, number: int = 1) -> tuple[Path, int]:
    """A new file, open for writing: no earlier copy is ever written over."""
    folder.mkdir(parents=True, exist_ok=True)
    made = folder / (name if number == 1 else f"{name}-{number}")
    try:
        return made, os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return _create(folder, name, number=number + 1)


def _hash_path(path: Path) -> str:
    return hashlib.sha256(os.fsencode(path)).hexdigest()[:8]


def get_key(document: Document) -> str | None:
    environment = document.get("env")
    key = environment.get(KEY) if isinstance(environment, dict) else None
    return key if isinstance(key, str) else None


def remove_key(document: Document) -> Document:
    changed = copy.deepcopy(document)
    environment = changed.get("env")
    if isinstance(environment, dict) and KEY in environment:
        del environment[KEY]
        if not environment:
            del changed["env"]
    return changed


def _format_json(document: Document) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def write_private(path: Path, text: str, *, mode: int = 0o600) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(name, mode)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
