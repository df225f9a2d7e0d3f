"""Tokens from the host's own transcript: what was used since it was last read.

A small file per session remembers how far that was. Claude Code writes a message once
for each of its blocks, with figures that grow, so that each message counts by its id;
Codex writes running totals. What is read from the provider's cache is not counted.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from checkrail.hooks import locations

try:
    import fcntl
except ImportError:  # not on Windows: two hooks at once may then count a message twice
    fcntl = None  # type: ignore[assignment]

REMEMBERED_IDS = 50
KEEP_SECONDS = 60 * 24 * 3600
Event = Mapping[str, Any]
State = dict[str, Any]


@dataclass
class Used:
    """What was used; given back where the server could not be told."""

    tokens: int = 0
    book: Path | None = None

    def give_back(self) -> None:
        if self.book is not None and self.tokens:
            with _opened(self.book) as state:
                state["owed"] = state.get("owed", 0) + self.tokens


def begin(host: str, event: Event) -> None:
    """What stands in a transcript before we come is not of this run."""
    book = _book(host, event)
    if book is None or book.exists():
        return
    _forget_old(book.parent)
    with _opened(book) as state:
        for path in _transcripts(event):
            _read(host, path, state)


def spent(host: str, event: Event) -> Used:
    book = _book(host, event)
    if book is None:
        return Used()
    with _opened(book) as state:
        tokens = state.pop("owed", 0)
        for path in _transcripts(event):
            tokens += _read(host, path, state)
    return Used(tokens=tokens, book=book)


def codex_is_headless(event: Event) -> bool:
    """`codex exec` says so in the first line of its transcript."""
    for path in _transcripts(event):
        with path.open("rb") as file:
            first = _document(file.readline())
        return bool(first.get("payload", {}).get("source") == "exec")
    return False


def _transcripts(event: Event) -> Iterator[Path]:
    """The session's own, and that of a subagent that ends."""
    for name in ("transcript_path", "agent_transcript_path"):
        path = event.get(name)
        if isinstance(path, str) and Path(path).is_file():
            yield Path(path)


def _read(host: str, path: Path, state: State) -> int:
    """The tokens of the lines that came since; half a line is left for the next time."""
    known = state.setdefault("files", {}).setdefault(str(path), {"offset": 0})
    with path.open("rb") as file:
        if known["offset"] > os.fstat(file.fileno()).st_size:
            known["offset"] = 0  # written anew: what was counted is known by its ids
        file.seek(known["offset"])
        new = file.read()
    whole = new[: new.rfind(b"\n") + 1]
    known["offset"] += len(whole)
    count = _codex if host == "codex" else _claude
    return sum(count(line, known) for line in whole.splitlines())


def _claude(line: bytes, known: State) -> int:
    if b'"usage"' not in line:
        return 0
    message = _document(line).get("message")
    if not isinstance(message, dict) or not isinstance(message.get("usage"), dict):
        return 0
    usage = message["usage"]
    names = ("input_tokens", "cache_creation_input_tokens", "output_tokens")
    tokens = sum(_whole(usage.get(name)) for name in names)
    seen: dict[str, int] = known.setdefault("seen", {})
    message_id = str(message.get("id"))
    before = seen.pop(message_id, 0)
    seen[message_id] = max(tokens, before)
    while len(seen) > REMEMBERED_IDS:
        del seen[next(iter(seen))]
    return max(0, tokens - before)


def _codex(line: bytes, known: State) -> int:
    if b'"token_count"' not in line:
        return 0
    info = _document(line).get("payload", {}).get("info")
    total = info.get("total_token_usage") if isinstance(info, dict) else None
    if not isinstance(total, dict):
        return 0
    now = _whole(total.get("total_tokens")) - _whole(total.get("cached_input_tokens"))
    before: int = known.get("total", 0)
    known["total"] = max(now, before)
    return max(0, now - before)


def _whole(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def _document(line: bytes) -> dict[str, Any]:
    try:
        document = json.loads(line)
    except ValueError:
        return {}  # a line of another kind, or of another version
    return document if isinstance(document, dict) else {}


def _book(host: str, event: Event) -> Path | None:
    session = event.get("session_id")
    if not isinstance(session, str):
        return None
    name = hashlib.sha256(f"{host}\0{session}".encode()).hexdigest()[:32]
    return locations.state_folder() / f"{name}.json"


@contextmanager
def _opened(book: Path) -> Iterator[State]:
    """The book of a session for one hook at a time; written when the block ends."""
    book.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with book.open("a+", encoding="utf-8") as file:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        state: State = _document(file.read().encode())
        yield state
        file.seek(0)
        file.truncate()
        json.dump(state, file)


def _forget_old(folder: Path) -> None:
    if not folder.is_dir():
        return
    for book in folder.glob("*.json"):
        if time.time() - book.stat().st_mtime > KEEP_SECONDS:
            book.unlink(missing_ok=True)
