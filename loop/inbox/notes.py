"""Notes: queued, confirmed once they are processed, or returned to the queue."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any

from django.utils import timezone

from accounts.auth import Principal
from common.errors import Invalid
from common.ids import uuid7
from common.responses import Reply, build_reply
from guidance.core.canonical import to_canonical_json
from guidance.core.policy.caps import CapReached
from ledger.idempotency import Idempotency
from ledger.plan import Plan
from ledger.state import RunState
from ledger.writer import Change, ChangeRequest, SealedEntry
from loop.errors import NotDue
from loop.inbox.caps import find_reached_cap
from loop.inbox.triggers import NewSignal
from loop.models import Note, NoteState
from loop.runs import perform, refuse_closed_run
from loop.serializers import serialize_note
from reviews.caps import refuse_at_cap

CLOCK = "system:clock"
OPEN = (NoteState.QUEUED, NoteState.CLAIMED)
RETURNED = "Nobody confirmed it in time"


@dataclass(kw_only=True)
class AddNote(ChangeRequest[Reply]):
    """Stores the note and a signal about it together."""

    actor: str
    text: str
    data: Mapping[str, Any]
    note_code: str = field(default_factory=lambda: str(uuid7()))
    reached_cap: CapReached | None = field(default=None, init=False)

    def load(self, run: RunState, at: datetime) -> None:
        self.reached_cap = find_reached_cap(
            run,
            "notes",
            open_rows=Note.objects.filter(state__in=OPEN),
            actor=self.actor,
        )

    def decide(self, run: RunState, at: datetime) -> Change[Reply]:
        refuse_closed_run(run)
        refuse_at_cap(
            self.reached_cap,
            what="open notes",
            instead="Wait until some are processed, then send it again.",
        )
        plan = Plan(run, at)
        add_note_entry(
            plan, self.note_code, NoteState.QUEUED, self.text, actor=self.actor
        )
        note = Note(
            code=self.note_code,
            project_id=run.project_id,
            text=self.text,
            data=to_canonical_json(self.data),
            actor=self.actor,
            created_at=at,
        )
        plan.rows.append(note)
        signal = NewSignal(
            type="system/note",
            source="own",
            actor=self.actor,
            data={"kind": "note.added", "note": self.note_code},
        )
        plan.rows.append(signal.build_row(project_id=run.project_id, at=at))
        return plan.change(partial(self._answer, note, signal))

    def _answer(
        self, note: Note, signal: NewSignal, _entries: Sequence[SealedEntry]
    ) -> Reply:
        answer = {**serialize_note(note), "decision_id": signal.decision_code}
        return build_reply(answer, status=201)


def add_note_entry(plan: Plan, code: str, state: str, text: str, *, actor: str) -> None:
    plan.add_entry(
        "loop.noted",
        actor=actor,
        payload={"note": code, "state": str(state), "text": text},
    )


def add_note(
    *,
    project_id: int,
    principal: Principal,
    text: str,
    data: Mapping[str, Any],
    idempotency: Idempotency | None = None,
) -> Reply:
    return perform(
        project_id,
        lambda run: AddNote(
            run_code=run,
            actor=principal.actor,
            text=text,
            data=data,
            idempotency=idempotency,
        ),
    )


@dataclass(kw_only=True)
class EndNote(ChangeRequest[Reply]):
    note: Note
    actor: str
    state: NoteState
    reason: str

    def load(self, run: RunState, at: datetime) -> None:
        self.note = Note.objects.get(pk=self.note.pk)

    def decide(self, run: RunState, at: datetime) -> Change[Reply]:
        refuse_closed_run(run)
        now = self.note
        if now.state == self.state:
            raise NotDue("The note has ended like this already.")
        # A note whose claim has run out may still be confirmed: the work is done.
        if now.state not in OPEN or not now.claims:
            raise Invalid(
                f"The note is {now.state}: only a claimed note can be confirmed."
            )
        plan = Plan(run, at)
        text = self.reason or now.text
        add_note_entry(plan, str(now.code), self.state, text, actor=self.actor)
        rows = Note.objects.filter(pk=now.pk)
        plan.side_updates.append(
            partial(
                rows.update,
                state=self.state,
                reason=self.reason,
                claimed_until=None,
                ended_at=at,
            )
        )
        return plan.change(lambda _entries: build_reply(serialize_note(rows.get())))


def end_note(
    *,
    note: Note,
    principal: Principal,
    state: NoteState,
    reason: str = "",
    idempotency: Idempotency | None = None,
) -> Reply:
    """Confirm a claimed note as done or failed. Idempotent."""
    try:
        return perform(
            note.project_id,
            lambda run: EndNote(
                run_code=run,
                note=note,
                actor=principal.actor,
                state=state,
                reason=reason,
                idempotency=idempotency,
            ),
        )
    except NotDue:
        note.refresh_from_db()
        return build_reply(serialize_note(note))


@dataclass(kw_only=True)
class ReturnNotes(ChangeRequest[int]):
    late: list[Note] = field(default_factory=list, init=False)

    def load(self, run: RunState, at: datetime) -> None:
        self.late = list(
            Note.objects.filter(
                project_id=run.project_id,
                state=NoteState.CLAIMED,
                claimed_until__lte=at,
            ).order_by("pk")[:100]
        )

    def decide(self, run: RunState, at: datetime) -> Change[int]:
        refuse_closed_run(run)
        late = self.late
        if not late:
            raise NotDue("Every claim has time left.")
        plan = Plan(run, at)
        for note in late:
            add_note_entry(
                plan, str(note.code), NoteState.QUEUED, RETURNED, actor=CLOCK
            )
        rows = Note.objects.filter(pk__in=[note.pk for note in late])
        plan.side_updates.append(
            partial(rows.update, state=NoteState.QUEUED, claimed_until=None)
        )
        return plan.change(lambda _entries: len(late))


def return_unconfirmed_notes(project_id: int) -> int:
    """Return notes to the queue that were not confirmed in time."""
    late = Note.objects.filter(
        project_id=project_id,
        state=NoteState.CLAIMED,
        claimed_until__lte=timezone.now(),
    )
    if not late.exists():
        return 0
    try:
        return perform(project_id, lambda run: ReturnNotes(run_code=run))
    except NotDue:
        return 0
