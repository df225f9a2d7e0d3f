"""Tokens from the host's own transcript: what was used since it was last read.

A small file per session stores how far that was. Claude Code writes a message once
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
class TokenUse:
    """Tokens used; given back where the server could not be reached."""

    tokens: int = 0
    state_file: Path | None = None

    def undo(self) -> None:
        if self.state_file is not None and self.tokens:
            with _open_state(self.state_file) as state:
                state["owed"] = state.get("owed", 0) + self.tokens


def skip_earlier_lines(host: str, event: Event) -> None:
    """Skip what stood in the transcript before this run."""
    state_file = _get_state_file(host, event)
    if state_file is None or state_file.exists():
        return
    _delete_old(state_file.parent)
    with _open_state(state_file) as state:
        for path in _list_transcripts(event):
            _count_new_lines(host, path, state)


def count_new_tokens(host: str, event: Event) -> TokenUse:
    state_file = _get_state_file(host, event)
    if state_file is None:
        return TokenUse()
    with _open_state(state_file) as state:
        tokens = state.pop("owed", 0)
        for path in _list_transcripts(event):
            tokens += _count_new_lines(host, path, state)
    return TokenUse(tokens=tokens, state_file=state_file)


def is_codex_headless(event: Event) -> bool:
    """`codex exec` says so in the first line of its transcript."""
    for path in _list_transcripts(event):
        with path.open("rb") as file:
            first = _parse_object(file.readline())
        return bool(first.get("payload", {}).get("source") == "exec")
    return False


def _list_transcripts(event: Event) -> Iterator[Path]:
    """The session's own, and that of a subagent that ends."""
    for name in ("transcript_path", "agent_transcript_path"):
        path = event.get(name)
        if isinstance(path, str) and Path(path).is_file():
            yield Path(path)


def _count_new_lines(host: str, path: Path, state: State) -> int:
    """The tokens of the lines that came since; half a line is left for the next time."""
    known = state.setdefault("files", {}).setdefault(str(path), {"offset": 0})
    with path.open("rb") as file:
        if known["offset"] > os.fstat(file.fileno()).st_size:
            known["offset"] = 0  # written anew: what was counted is known by its ids
        file.seek(known["offset"])
        new = file.read()
    whole = new[: new.rfind(b"\n") + 1]
    known["offset"] += len(whole)
    count = _count_codex_line if host == "codex" else _count_claude_line
    return sum(count(line, known) for line in whole.splitlines())


def _count_claude_line(line: bytes, known: State) -> int:
    if b'"usage"' not in line:
        return 0
    message = _parse_object(line).get("message")
    if not isinstance(message, dict) or not isinstance(message.get("usage"), dict):
        return 0
    usage = message["usage"]
    names = ("input_tokens", "cache_creation_input_tokens", "output_tokens")
    tokens = sum(_parse_count(usage.get(name)) for name in names)
    seen: dict[str, int] = known.setdefault("seen", {})
    message_id = str(message.get("id"))
    before = seen.pop(message_id, 0)
    seen[message_id] = max(tokens, before)
    while len(seen) > REMEMBERED_IDS:
        del seen[next(iter(seen))]
    return max(0, tokens - before)


def _count_codex_line(line: bytes, known: State) -> int:
    if b'"token_count"' not in line:
        return 0
    info = _parse_object(line).get("payload", {}).get("info")
    total = info.get("total_token_usage") if isinstance(info, dict) else None
    if not isinstance(total, dict):
        return 0
    now = _parse_count(total.get("total_tokens")) - _parse_count(
        total.get("cached_input_tokens")
    )
    before: int = known.get("total", 0)
    known["total"] = max(now, before)
    return max(0, now - before)


def _parse_count(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def _parse_object(line: bytes) -> dict[str, Any]:
    try:
        document = json.loads(line)
    except ValueError:
        return {}  # a line of another kind, or of another version
    return document if isinstance(document, dict) else {}


def _get_state_file(host: str, event: Event) -> Path | None:
    session = event.get("session_id")
    if not isinstance(session, str):
        return None
    name = hashlib.sha256(f"{host}\0{session}".encode()).hexdigest()[:32]
    return locations.get_state_folder() / f"{name}.json"


@contextmanager
def _open_state(state_file: Path) -> Iterator[State]:
    """Lock and read the state of a session; write it when the block ends."""
    state_file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with state_file.open("a+", encoding="utf-8") as file:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        state: State = _parse_object(file.read().encode())
        yield state
        file.seek(0)
        file.truncate()
        json.dump(state, file)


def _delete_old(folder: Path) -> None:
    if not folder.is_dir():
        return
    for state_file in folder.glob("*.json"):
        if time.time() - state_file.stat().st_mtime > KEEP_SECONDS:
            state_file.unlink(missing_ok=True)
