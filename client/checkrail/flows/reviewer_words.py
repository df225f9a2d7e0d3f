"""Words for the model: what a reviewer wrote, and what they changed."""

from __future__ import annotations

import json

from checkrail.answers import Note, Ruling
from checkrail.flows.run_core import RunCore


def quote_note(ruling: Ruling) -> str:
    """Quote what a person wrote, so that the model takes it for nothing else."""
    return _quote(ruling.by, ruling.note) if ruling.note else ""


def _quote(by: str, text: str) -> str:
    return f"{by}, a reviewer, wrote: {json.dumps(text, ensure_ascii=False)}"


def quote_agent_note(note: Note) -> str:
    tags = f" ({', '.join(note.tags)})" if note.tags else ""
    return f"Note{tags}: {_quote(note.by, note.text)}"


def describe_change(new: object, old: object) -> str:
    """Say what ran in place of the model's own call, which its context still holds."""
    return (
        "Note: a reviewer changed the arguments of this call. It ran with "
        f"{encode_sorted(new)} instead of {encode_sorted(old)}; do not repeat your own."
    )


def take_untold(run: RunCore) -> list[str]:
    """Take, once, what the model has not read yet: of calls that failed, and of pauses."""
    told = []
    while run.untold:
        told.append(run.untold.popleft())
    while run.pause_rulings:
        told.append(quote_note(run.pause_rulings.popleft()))
    return told


def encode_sorted(value: object) -> str:
    """Write JSON that is the same each time: one thing asked twice must not look like two."""
    return json.dumps(value, sort_keys=True)
