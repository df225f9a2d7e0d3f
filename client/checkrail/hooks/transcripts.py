"""Tokens from the host's own transcript: what was used since it was last read.

A small file per session stores how far that was. Claude Code writes a message once
for each of its blocks, with figures that grow, so that each message counts by its id;
Codex writes running totals. Tokens are counted by model and kind, so that the server can say
what they cost; what is read from the provider's cache has a price, and is not counted else.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from checkrail.hooks import locations

try:
    import fcntl
except ImportError:  # not on Windows: two hooks at once may then count a message twice
    fcntl = None  # type: ignore[assignment]

REMEMBERED_IDS = 50
# What the server takes of one event.
MODELS = 20
MODEL_CHARACTERS = 200
KEEP_SECONDS = 60 * 24 * 3600
Event = Mapping[str, Any]
State = dict[str, Any]


# Of each model a number for each kind, in this order, and what counts of them together.
KINDS = ("input_tokens", "cached_input_tokens", "cache_write_tokens", "output_tokens")
Counts = list[int]
NONE: Counts = [0] * (len(KINDS) + 1)


@dataclass
class TokenUse:
    """Tokens used, by model; given back where the server could not be reached."""

    by_model: dict[str, Counts] = field(default_factory=dict)
    state_file: Path | None = None

    @property
    def tokens(self) -> int:
        return sum(counts[-1] for counts in self.by_model.values())

    @property
    def usage(self) -> list[dict[str, Any]]:
        """As the server takes it."""
        return [
            {
                "model": model[:MODEL_CHARACTERS],
                **dict(zip(KINDS, counts[:-1], strict=True)),
            }
            for model, counts in self.by_model.items()
            if any(counts)
        ][:MODELS]

    def add(self, model: str, counts: Counts) -> None:
        before = self.by_model.get(model, NONE)
        self.by_model[model] = [a + b for a, b in zip(before, counts, strict=True)]

    def undo(self) -> None:
        if self.state_file is None or not any(map(any, self.by_model.values())):
            return
        with _open_state(self.state_file) as state:
            owed = TokenUse(_read_owed(state))
            for model, counts in self.by_model.items():
                owed.add(model, counts)
            state["owed"] = owed.by_model


def skip_earlier_lines(host: str, event: Event) -> None:
    """Skip what stood in the transcript before this run."""
    state_file = _get_state_file(host, event)
    if state_file is None or state_file.exists():
        return
    _delete_old(state_file.parent)
    with _open_state(state_file) as state:
        for path in _list_transcripts(event):
            _count_new_lines(host, path, state, TokenUse())


def count_new_tokens(host: str, event: Event) -> TokenUse:
    state_file = _get_state_file(host, event)
    if state_file is None:
        return TokenUse()
    with _open_state(state_file) as state:
        used = TokenUse(_read_owed(state), state_file)
        for path in _list_transcripts(event):
            _count_new_lines(host, path, state, used)
    return used


def _read_owed(state: State) -> dict[str, Counts]:
    owed = state.pop("owed", {})
    return owed if isinstance(owed, dict) else {}


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


def _count_new_lines(host: str, path: Path, state: State, used: TokenUse) -> None:
    """Add the lines that came since; half a line is left for the next time."""
    known = state.setdefault("files", {}).setdefault(str(path), {"offset": 0})
    with path.open("rb") as file:
        if known["offset"] > os.fstat(file.fileno()).st_size:
            known["offset"] = 0  # written anew: what was counted is known by its ids
        file.seek(known["offset"])
        new = file.read()
    whole = new[: new.rfind(b"\n") + 1]
    known["offset"] += len(whole)
    count = _count_codex_line if host == "codex" else _count_claude_line
    for line in whole.splitlines():
        count(line, known, used)


def _count_claude_line(line: bytes, known: State, used: TokenUse) -> None:
    if b'"usage"' not in line:
        return
    message = _parse_object(line).get("message")
    if not isinstance(message, dict) or not isinstance(message.get("usage"), dict):
        return
    usage = message["usage"]
    names = (
        *("input_tokens", "cache_read_input_tokens"),
        *("cache_creation_input_tokens", "output_tokens"),
    )
    sent, cached, written, output = (_parse_count(usage.get(name)) for name in names)
    now = [sent, cached, written, output, sent + written + output]
    counted: dict[str, Counts] = known.setdefault("counted", {})
    message_id = str(message.get("id"))
    before = counted.pop(message_id, NONE)
    counted[message_id] = [max(pair) for pair in zip(now, before, strict=True)]
    while len(counted) > REMEMBERED_IDS:
        del counted[next(iter(counted))]
    used.add(_parse_text(message.get("model")), _subtract(now, before))


def _count_codex_line(line: bytes, known: State, used: TokenUse) -> None:
    if b'"turn_context"' in line:
        model = _get_payload(line).get("model")
        known["model"] = _parse_text(model) or known.get("model", "")
        return
    if b'"token_count"' not in line:
        return
    info = _get_payload(line).get("info")
    total = info.get("total_token_usage") if isinstance(info, dict) else None
    if not isinstance(total, dict):
        return
    cached = _parse_count(total.get("cached_input_tokens"))
    output = _parse_count(total.get("output_tokens"))
    anew = _parse_count(total.get("total_tokens")) - cached
    now = [max(0, anew - output), cached, 0, output, anew]
    before = known.get("totals", NONE)
    known["totals"] = [max(pair) for pair in zip(now, before, strict=True)]
    used.add(known.get("model", ""), _subtract(now, before))


def _subtract(now: Counts, before: Counts) -> Counts:
    return [max(0, a - b) for a, b in zip(now, before, strict=True)]


def _get_payload(line: bytes) -> dict[str, Any]:
    payload = _parse_object(line).get("payload")
    return payload if isinstance(payload, dict) else {}


def _parse_text(value: object) -> str:
    return value if isinstance(value, str) else ""


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
