"""A person writes a note to a running agent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from accounts.auth import PersonPrincipal
from accounts.models import Role
from accounts.selectors import require_role
from common.errors import Forbidden, Invalid
from common.ids import uuid7
from guidance.core.canonical import to_canonical_json
from ledger.plan import Plan
from ledger.selectors import is_system_run
from ledger.state import RunState
from ledger.writer import Change, ChangeRequest, get_writer
from reviews.agent_notes.schemas import WAITING_MAX, AgentNoteIn
from reviews.errors import refuse_closed
from reviews.models import AgentNote
from reviews.selectors import get_visible_run


@dataclass(kw_only=True)
class WriteNote(ChangeRequest[None]):
    """It wakes nobody: the agent hears it with its next answer."""

    person: PersonPrincipal
    text: str
    tags: Sequence[str]
    code: str = field(default_factory=lambda: str(uuid7()))

    def decide(self, run: RunState, at: datetime) -> Change[None]:
        if run.observed:
            raise Forbidden(
                "This run is only observed: its agent asks nothing here and would not "
                "hear of it."
            )
        refuse_closed(run)
        if len(run.notes.waiting) >= WAITING_MAX:
            message = f"{WAITING_MAX} notes wait for this agent already"
            raise Invalid(f"{message}.", errors=[{"loc": ["text"], "message": message}])
        plan = Plan(run, at)
        plan.add_entry(
            "note.written",
            actor=self.person.actor,
            payload={
                "id": self.code,
                "text": self.text,
                "by": self.person.actor,
                "tags": [*self.tags],
            },
        )
        plan.rows.append(
            AgentNote(
                code=self.code,
                run_id=run.id,
                text=self.text,
                tags=to_canonical_json([*self.tags]),
                by_id=self.person.user_id,
                at=at,
            )
        )
        return plan.change()


def submit_agent_note(
    *, run_code: str, person: PersonPrincipal, body: AgentNoteIn
) -> AgentNote:
    run = get_visible_run(user_id=person.user_id, code=run_code)
    require_role(user_id=person.user_id, project_id=run.project_id, role=Role.REVIEWER)
    if is_system_run(run):
        raise Forbidden("This run is the server's own record: no agent reads here.")
    request = WriteNote(
        run_code=str(run.code),
        person=person,
        text=body.text,
        tags=tuple(dict.fromkeys(body.tags)),
    )
    get_writer().perform_now(request)
    return AgentNote.objects.select_related("by").get(code=request.code)
