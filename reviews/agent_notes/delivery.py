"""An answer to the agent carries what waits for it, and its next step has read that.

Both are entries of the change that the answer is about: whoever is judged on a run that has
moved since is judged again, so that one answer carries a note and no other.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Any

from ledger.plan import Plan
from reviews.agent_notes.selectors import Note
from reviews.models import AgentNote, DeliveredWith

NOTES_ACTOR = "system:notes"


def deliver_notes(
    plan: Plan,
    notes: Sequence[Note],
    *,
    given: DeliveredWith,
    subject: str | None = None,
) -> list[Note]:
    """Those of the notes that still wait come with this answer. A run that has just been
    stopped keeps them: its agent hears them once it goes on."""
    waiting = set(plan.run.notes.waiting)
    carried = [note for note in notes if note["id"] in waiting]
    if not carried or plan.run.closed:
        return []
    codes = [note["id"] for note in carried]
    step = plan.run.memory.last_step or None
    plan.add_entry(
        "note.delivered",
        actor=NOTES_ACTOR,
        payload={
            "notes": codes,
            "with": given.value,
            "step": step,
            **({} if subject is None else {_SUBJECTS[given]: subject}),
        },
    )
    _update(
        plan,
        codes,
        delivered_at=plan.at,
        delivered_with=given,
        delivered_step=step,
        delivered_for=subject,
    )
    return carried


def mark_notes_read(
    plan: Plan, *, actor: str, codes: Sequence[str] | None = None
) -> None:
    """Those that were delivered before, or these of them."""
    delivered = plan.run.notes.delivered
    read = [code for code in delivered if codes is None or code in codes]
    if not read:
        return
    step = plan.run.memory.last_step or None
    plan.add_entry("note.read", actor=actor, payload={"notes": read, "step": step})
    _update(plan, read, read_at=plan.at)


_SUBJECTS = {DeliveredWith.CALL: "call", DeliveredWith.DECISION: "review"}


def _update(plan: Plan, codes: Sequence[str], **values: datetime | Any) -> None:
    rows = AgentNote.objects.filter(run_id=plan.run.id, code__in=codes)
    plan.side_updates.append(partial(rows.update, **values))
