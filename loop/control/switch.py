"""The kill switch: while paused, the loop records decisions but emits nothing."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import partial

from accounts.auth import PersonPrincipal
from accounts.models import Role
from accounts.selectors import require_role
from ledger.plan import Plan
from ledger.state import RunState
from ledger.writer import Change, ChangeRequest
from loop.models import ProjectLoop
from loop.runs import perform, refuse_closed_run


@dataclass(kw_only=True)
class SetPaused(ChangeRequest[None]):
    person: PersonPrincipal
    paused: bool
    reason: str

    def decide(self, run: RunState, at: datetime) -> Change[None]:
        refuse_closed_run(run)
        plan = Plan(run, at)
        plan.add_entry(
            "loop.switched",
            actor=self.person.actor,
            payload={"paused": self.paused, "reason": self.reason},
        )
        loops = ProjectLoop.objects.filter(pk=run.project_id)
        plan.side_updates.append(
            partial(
                loops.update,
                paused_at=at if self.paused else None,
                paused_by_id=self.person.user_id if self.paused else None,
                paused_reason=self.reason if self.paused else "",
            )
        )
        return plan.change()


def set_paused(
    *, project_id: int, person: PersonPrincipal, paused: bool, reason: str = ""
) -> None:
    """Any reviewer may pause the loop; only a manager may resume it."""
    role = Role.REVIEWER if paused else Role.MANAGER
    require_role(user_id=person.user_id, project_id=project_id, role=role)
    perform(
        project_id,
        lambda run: SetPaused(
            run_code=run, person=person, paused=paused, reason=reason
        ),
    )
