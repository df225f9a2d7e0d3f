"""The fake server's notes of people to a running agent."""

from __future__ import annotations

from typing import Any

from checkrail.testing.fakes import FakeRun, Refusal
from checkrail.testing.server import Answer, FakeServer
from checkrail.testing.shapes import AT, Json


def deliver_notes(run: FakeRun, given: str) -> list[Json]:
    """Those that wait come with this answer."""
    carried = [note for note in run.notes if note["state"] == "waiting"]
    for note in carried:
        _change(run, note, state="delivered", delivered_at=AT, delivered_with=given)
    return [build_note(note) for note in carried]


def read_notes(run: FakeRun) -> None:
    """A step has followed."""
    for note in run.notes:
        if note["state"] == "delivered":
            note.update(state="read", read_at=AT)


def list_unread(run: FakeRun, given: str) -> list[Json]:
    return [
        build_note(note)
        for note in run.notes
        if (note["state"], note["delivered_with"]) == ("delivered", given)
    ]


def build_note(note: Json) -> Json:
    return {name: note[name] for name in ("id", "text", "by", "at", "tags")}


def show_notes(_server: FakeServer, run: FakeRun, _body: Json) -> Answer:
    return 200, {"items": [_build_listed(note) for note in run.notes]}


def acknowledge(run: FakeRun, code: str) -> Answer:
    for note in run.notes:
        if note["id"] == code:
            if note["state"] == "waiting":
                run.refuse_closed()
                given = "acknowledgement"
                _change(run, note, delivered_at=AT, delivered_with=given)
            note.update(state="read", read_at=note["read_at"] or AT)
            return 200, _build_listed(note)
    raise Refusal("not-found", 404, "Nothing is found at this address.")


def _build_listed(note: Json) -> Json:
    given = note["delivered_with"]
    return {**note, "delivered_with": given and given.partition(" ")[0]}


def _change(run: FakeRun, note: Json, **values: Any) -> None:
    note.update(values, delivered_step=run.last_step or None)
