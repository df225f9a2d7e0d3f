"""What people wrote to the agent while it worked: each note is taken once."""

from __future__ import annotations

from checkrail.answers import ListedNote, Note, NoteList
from checkrail.flows.run_core import RunCore
from checkrail.transport.effects import Flow, get, post_safe, quote_part
from checkrail.transport.retry import send_request


def take_notes(run: RunCore) -> Flow[list[Note]]:
    """What people wrote since the last time, the oldest first: for the model's context.

    It came with the answers to steps, calls and waits: only a run that was resumed asks for
    it, once, because the process before may have died with what it was told.
    """
    if run.resumed and not run.asked_for_unread:
        listed = yield from list_notes(run)
        run.asked_for_unread = True
        run.store_notes(note for note in listed if note.state == "delivered")
    taken = []
    while run.notes:
        taken.append(run.notes.popleft())
    return taken


def list_notes(run: RunCore) -> Flow[list[ListedNote]]:
    """All notes to the agent of this run, with what became of them; takes none."""
    request = get(run.build_path("notes"))
    answer = yield from send_request(run.connection, NoteList, request)
    return list(answer.items)


def acknowledge_note(run: RunCore, note: Note | str) -> Flow[ListedNote]:
    """Say that it was read, before the next step says so."""
    code = note if isinstance(note, str) else note.id
    request = post_safe(run.build_path("notes", quote_part(code), "read"), {})
    return (yield from send_request(run.connection, ListedNote, request))
