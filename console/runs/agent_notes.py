"""What people told the agent of a run, as its page shows it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime

from console.format import ShownMoment, build_past_moment
from console.people import Person, build_person
from console.runs.sentences.agent_notes import describe_carrier
from ledger.models import FINAL, Run
from ledger.selectors import is_system_run
from reviews.agent_notes.selectors import list_notes
from reviews.models import AgentNote, NoteState
from safetext import make_visible, make_visible_line

_TONES = {
    NoteState.WAITING: "pause",
    NoteState.DELIVERED: "slow",
    NoteState.READ: "go",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunNote:
    """`became` says how far it has come."""

    text: str
    tags: tuple[str, ...]
    by: Person
    at: ShownMoment
    word: str
    tone: str
    became: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunNotes:
    items: tuple[RunNote, ...]
    may_tell: bool


def build_run_notes(run: Run, *, at: datetime) -> RunNotes:
    """The newest first; one query."""
    closed = run.status in FINAL
    items = [_build(note, closed=closed, at=at) for note in reversed(list_notes(run))]
    return RunNotes(items=tuple(items), may_tell=may_be_told(run))


def may_be_told(run: Run) -> bool:
    """Whether an agent works on it that could hear of anything."""
    over = run.status in FINAL or run.status == "stopped"
    return not (over or run.observed or is_system_run(run))


def _build(note: AgentNote, *, closed: bool, at: datetime) -> RunNote:
    lost = closed and note.state == NoteState.WAITING
    return RunNote(
        text=make_visible(note.text),
        tags=tuple(make_visible_line(tag) for tag in json.loads(note.tags)),
        by=build_person(note.by),
        at=build_past_moment(note.at, at),
        word="never delivered" if lost else note.state.value,
        tone="stop" if lost else _TONES[note.state],
        became=_describe(note, lost=lost),
    )


def _describe(note: AgentNote, *, lost: bool) -> str:
    if lost:
        return "The run ended before the agent asked anything more."
    if note.state == NoteState.WAITING:
        return "The agent hears it with its next answer."
    carrier = describe_carrier(note.delivered_with, note.delivered_step)
    return f"Came with {carrier}."
