"""A host's settings file: read, changed, and put back whole, with a copy beside it."""

from __future__ import annotations

import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any

Document = dict[str, Any]


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
    path.parent.mkdir(parents=True, exist_ok=True)
    mode, backup = 0o600, None
    if path.exists():
        mode = path.stat().st_mode & 0o777
        stamp = time.strftime("%Y%m%dT%H%M%S")
        backup = path.with_name(f"{path.name}.before-checkrail-{stamp}")
        write_private(backup, path.read_text(encoding="utf-8"), mode=mode)
    text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    write_private(path, text, mode=mode)
    return backup


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
