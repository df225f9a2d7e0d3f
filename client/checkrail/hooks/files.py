"""A host's settings file: read, changed, and put back whole, with a copy elsewhere."""

from __future__ import annotations

import copy
import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any

from checkrail.hooks import places

Document = dict[str, Any]
KEY = "CHECKRAIL_KEY"


class BadSettings(Exception):
    """A file that we must not touch; the words say what is wrong with it."""


def read_document(path: Path) -> Document:
    if not path.exists():
        return {}
    text = path.read_text(encoding="utf-8")
    if not text.strip():
        return {}
    try:
        document = json.loads(text)
    except ValueError as error:
        raise BadSettings(
            f"{path} is no valid JSON ({error}): mend it first."
        ) from None
    if not isinstance(document, dict):
        raise BadSettings(f"{path} holds no JSON object: mend it first.")
    return document


def write_document(path: Path, document: Document) -> Path | None:
    """In one piece; returns the copy of what was there, None where nothing was."""
    path = path.resolve()  # behind a link, the file itself is changed
    mode, backup = 0o600, None
    if path.exists():
        mode = path.stat().st_mode & 0o777
        backup = _copy(path)
    write_private(path, _written(document), mode=mode)
    return backup


def _copy(path: Path) -> Path:
    """For its owner alone, outside the project, and without the agent's key: settings
    may hold secrets, and a copy beside them could be committed."""
    before = read_document(path)
    left = without_key(before)
    text = path.read_text(encoding="utf-8") if left == before else _written(left)
    stamp = time.strftime("%Y%m%dT%H%M%S")
    place = f"{path.parent.parent.name}-{path.name}"
    made = places.copies_folder() / f"{place}.before-checkrail-{stamp}"
    write_private(made, text)
    return made


def without_key(document: Document) -> Document:
    changed = copy.deepcopy(document)
    environment = changed.get("env")
    if isinstance(environment, dict) and KEY in environment:
        del environment[KEY]
        if not environment:
            del changed["env"]
    return changed


def _written(document: Document) -> str:
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
