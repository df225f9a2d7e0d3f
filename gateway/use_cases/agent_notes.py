"""Notes of people reach the agent where nothing else changes, and it says that it read one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial

from accounts.auth import AgentPrincipal
from common.errors import DomainError, NotFound
from common.ids import parse_code
from common.responses import Reply, build_reply
from gateway.use_cases.access import require_own_run
from ledger.plan import Plan
from ledger.state import RunState
from ledger.writer import Change, ChangeRequest, get_writer
from ledger.writer.db_threads import run_in_db_thread
from reviews.agent_notes.delivery import deliver_notes, mark_notes_read
from reviews.agent_notes.selectors import (
    Note,
    has_waiting_notes,
    list_unread_of_decision,
    load_notes,
    serialize_listed_note,
)
from reviews.errors import refuse_closed
from reviews.models import AgentNote, DeliveredWith


class NothingToDeliver(DomainError):
    """Internal: no note waits, or another answer has carried it."""


class NoteRead(DomainError):
    """Internal: the note is read already."""


@dataclass(kw_only=True)
class DeliverNotes(ChangeRequest[list[Note]]):
    """All that wait, with an answer that changes nothing by itself."""

    agent: AgentPrincipal
    given: DeliveredWith
    subject: str | None = None
    notes: Sequence[Note] = field(default=(), init=False)

    def load(self, run: RunState, at: datetime) -> None:
        self.notes = load_notes(run.notes.waiting)

    def decide(self, run: RunState, at: datetime) -> Change[list[Note]]:
        require_own_run(run, self.agent)
        plan = Plan(run, at)
        carried = deliver_notes(
            plan, self.notes, given=self.given, subject=self.subject
        )
        if not carried:
            raise NothingToDeliver("No note waits.")
        return plan.change(lambda _entries: carried)


async def deliver_with_turn(*, agent: AgentPrincipal, run_code: str) -> list[Note]:
    """To an agent that would stop: there may be no other answer to it."""
    request = DeliverNotes(agent=agent, run_code=run_code, given=DeliveredWith.TURN)
    return await _deliver(request)


async def deliver_with_decision(
    *, agent: AgentPrincipal, run_id: int, run_code: str, review: str
) -> list[Note]:
    """Asked again, the decision comes with the same notes until they are read: the answer
    may have been lost."""
    await _deliver(
        DeliverNotes(
            agent=agent,
            run_code=run_code,
            given=DeliveredWith.DECISION,
            subject=review,
        )
    )
    return await run_in_db_thread(partial(list_unread_of_decision, run_id, review))


async def _deliver(request: DeliverNotes) -> list[Note]:
    if not await run_in_db_thread(partial(has_waiting_notes, request.run_code)):
        return []
    try:
        return await get_writer().perform(request)
    except NothingToDeliver:
        return []


@dataclass(kw_only=True)
class AcknowledgeNote(ChangeRequest[None]):
    """The agent has read it; one that it found in the list is delivered by that, too."""

    agent: AgentPrincipal
    code: str
    notes: Sequence[Note] = field(default=(), init=False)

    def load(self, run: RunState, at: datetime) -> None:
        self.notes = load_notes([self.code])

    def decide(self, run: RunState, at: datetime) -> Change[None]:
        require_own_run(run, self.agent)
        plan = Plan(run, at)
        if self.code in run.notes.waiting:
            refuse_closed(run)
            given = DeliveredWith.ACKNOWLEDGEMENT
            deliver_notes(plan, self.notes, given=given)
        elif self.code not in run.notes.delivered:
            raise NoteRead("The note is read.")
        mark_notes_read(plan, actor=self.agent.actor, codes=[self.code])
        return plan.change()


async def acknowledge_note(
    *, agent: AgentPrincipal, run_code: str, note_code: str
) -> Reply:
    """To read what is read changes nothing."""
    find = partial(_get_note, agent, run_code, note_code)
    found = await run_in_db_thread(find)
    request = AcknowledgeNote(agent=agent, run_code=run_code, code=str(found.code))
    try:
        await get_writer().perform(request)
    except NoteRead:
        pass  # by a step or by an answer that was lost
    return build_reply(serialize_listed_note(await run_in_db_thread(find)))


def _get_note(agent: AgentPrincipal, run_code: str, note_code: str) -> AgentNote:
    run, note = parse_code(run_code), parse_code(note_code)
    if run is None or note is None:
        raise NotFound
    rows = AgentNote.objects.select_related("by").filter(
        code=note, run__code=run, run__agent_id=agent.agent_id
    )
    found = rows.first()
    if found is None:
        raise NotFound
    return found
