"""What a commit stores of one run, and the columns of its entries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ledger.chain import SealedEntry
from ledger.state import RunState

ENTRY_COLUMNS: tuple[tuple[str, str], ...] = (
    ("run_id", "bigint"),
    ("project_id", "bigint"),
    ("version", "smallint"),
    ("seq", "bigint"),
    ("at", "timestamptz"),
    ("type", "text"),
    ("actor", "text"),
    ("payload", "text"),
    ("payload_sha256", "text"),
    ("prev_hash", "text"),
    ("hash", "text"),
    ("step_number", "bigint"),
    ("decision", "text"),
)
POSITION = ("position", "bigint")


@dataclass(slots=True, kw_only=True)
class RunWrite:
    """All that one batch does to one run; `wakes` tells other processes at commit."""

    old_hash: str
    state: RunState
    entries: list[SealedEntry] = field(default_factory=list)
    wakes: bool = False


def join_names(columns: Sequence[tuple[str, str]]) -> str:
    return ", ".join(name for name, _ in columns)


def list_entry_values(entry: SealedEntry) -> tuple[Any, ...]:
    return (
        entry.run_id,
        entry.project_id,
        entry.version,
        entry.seq,
        entry.at,
        entry.type,
        entry.actor,
        entry.payload,
        entry.payload_sha256,
        entry.prev_hash,
        entry.hash,
        entry.step_number,
        entry.decision,
    )
