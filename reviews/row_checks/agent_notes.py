"""Notes to agents, as they follow from a run's entries."""

from __future__ import annotations

from guidance.core.canonical import to_canonical_json
from reviews.row_checks.rows import (
    EntryOrigin,
    ExpectedRows,
    Payload,
    register_entry_rows,
)

_TABLE = "note"


def register_note_rows() -> None:
    register_entry_rows("note.written", _write_note)
    register_entry_rows("note.delivered", _deliver_notes)
    register_entry_rows("note.read", _read_notes)


def _write_note(rows: ExpectedRows, payload: Payload, now: EntryOrigin) -> None:
    rows.add(
        _TABLE,
        payload["id"],
        now=now,
        text=payload["text"],
        tags=to_canonical_json(payload["tags"]),
        by=now.actor,
        at=now.at,
        delivered_at=None,
        delivered_with="",
        delivered_step=None,
        delivered_for=None,
        read_at=None,
    )


def _deliver_notes(rows: ExpectedRows, payload: Payload, now: EntryOrigin) -> None:
    for code in payload["notes"]:
        rows.get_table(_TABLE)[code,].change(
            now,
            delivered_at=now.at,
            delivered_with=payload["with"],
            delivered_step=payload["step"],
            delivered_for=payload.get("call", payload.get("review")),
        )


def _read_notes(rows: ExpectedRows, payload: Payload, now: EntryOrigin) -> None:
    for code in payload["notes"]:
        rows.get_table(_TABLE)[code,].change(now, read_at=now.at)
