"""What entries about notes to the agent say, in our words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from console.runs.sentences.runs import Line
from safetext import make_visible, make_visible_line

_CARRIERS = {
    "step": "the answer to step {step}",
    "call": "the answer to a call",
    "decision": "a decision that it waited for",
    "turn": "the answer to the end of its turn",
    "acknowledgement": "the list, where the agent found it",
}


def describe_carrier(carrier: str, step: int | None) -> str:
    """What brought a note to the agent."""
    return _CARRIERS[carrier].format(step=step)


def describe_written_note(payload: Mapping[str, Any]) -> Line:
    return Line(
        icon="note",
        tone="pause",
        head="Told the agent",
        text=make_visible(payload["text"]),
        why=tuple(make_visible_line(tag) for tag in payload["tags"]),
    )


def describe_delivery(payload: Mapping[str, Any]) -> Line:
    carrier = describe_carrier(payload["with"], payload["step"])
    return Line(
        icon="note",
        tone="mute",
        head=f"{_count(payload['notes'])} delivered",
        why=(f"with {carrier}",),
    )


def describe_reading(payload: Mapping[str, Any]) -> Line:
    return Line(icon="check", tone="go", head=f"{_count(payload['notes'])} read")


def _count(notes: list[str]) -> str:
    return "Note" if len(notes) == 1 else f"{len(notes)} notes"


AGENT_NOTE_LINES = {
    "note.written": describe_written_note,
    "note.delivered": describe_delivery,
    "note.read": describe_reading,
}
