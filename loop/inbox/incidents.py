"""Incidents that a person resolves by hand."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import partial

from accounts.auth import PersonPrincipal
from ledger.plan import Plan
from ledger.state import RunState
from ledger.writer import Change, ChangeRequest
from loop.errors import NotDue
from loop.models import Incident
from loop.runs import perform, refuse_closed_run


@dataclass(kw_only=True)
class ResolveIncident(ChangeRequest[None]):
    incident: Incident
    person: PersonPrincipal
    note: str

    def load(self, run: RunState, at: datetime) -> None:
        self.incident = Incident.objects.get(pk=self.incident.pk)

    def decide(self, run: RunState, at: datetime) -> Change[None]:
        refuse_closed_run(run)
        if self.incident.resolved_at is not None:
            raise NotDue("It is resolved already.")
        still_open = Incident.objects.filter(
            pk=self.incident.pk, resolved_at__isnull=True
        )
        plan = Plan(run, at)
        plan.add_entry(
            "loop.alerted",
            actor=self.person.actor,
            payload={
                "incident": str(self.incident.code),
                "condition": self.incident.condition,
                "state": "resolved",
                "text": self.note or self.incident.title,
            },
        )
        plan.side_updates.append(partial(still_open.update, resolved_at=at))
        return plan.change()


def resolve_incident(
    *, incident: Incident, person: PersonPrincipal, note: str = ""
) -> Incident:
    """Idempotent."""
    try:
        perform(
            incident.project_id,
            lambda run: ResolveIncident(
                run_code=run, incident=incident, person=person, note=note
            ),
        )
    except NotDue:
        pass
    incident.refresh_from_db()
    return incident
