"""An allowance ends: its steps or its time are over, or a person takes it back."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime

from accounts.auth import PersonPrincipal
from accounts.models import Role
from accounts.selectors import require_role
from common.errors import NotFound
from common.ids import parse_code
from guidance.core.runs.allowances import Allowance
from ledger.models import Entry, Run
from ledger.plan import Plan
from ledger.state import RunState
from ledger.writer import Change, ChangeRequest, get_writer
from reviews.selectors import get_visible_run

# Why one ends, beside `steps` and `time`, which the allowance itself knows.
REVOKED = "revoked"
REPLACED = "replaced"


def end_allowance(plan: Plan, allowance: Allowance, *, reason: str, actor: str) -> None:
    plan.add_entry(
        "allowance.ended",
        actor=actor,
        payload={
            "allowance": allowance.code,
            "review": allowance.review,
            "gate": allowance.gate,
            "reason": reason,
        },
    )


def end_used_allowances(plan: Plan, *, step: int, actor: str) -> None:
    """Those that cover no step after this one, which has just been judged."""
    for allowance in plan.run.memory.allowances:
        reason = allowance.find_end(step, plan.at)
        if reason is not None:
            end_allowance(plan, allowance, reason=reason, actor=actor)


@dataclass(kw_only=True)
class RevokeAllowance(ChangeRequest[None]):
    """A step that was judged before stays as it is; the next one asks again."""

    code: str
    person: PersonPrincipal

    def decide(self, run: RunState, at: datetime) -> Change[None]:
        plan = Plan(run, at)
        for allowance in run.memory.allowances:
            if allowance.code == self.code:
                actor = self.person.actor
                end_allowance(plan, allowance, reason=REVOKED, actor=actor)
                return plan.change()
        raise NotFound


def submit_allowance_end(*, run_code: str, code: str, person: PersonPrincipal) -> None:
    """Taking back what has ended is taking back."""
    run = get_visible_run(user_id=person.user_id, code=run_code)
    require_role(user_id=person.user_id, project_id=run.project_id, role=Role.REVIEWER)
    known = parse_code(code)
    if known is None:
        raise NotFound
    request = RevokeAllowance(run_code=str(run.code), code=str(known), person=person)
    try:
        get_writer().perform_now(request)
    except NotFound:
        if not _was_given(run, str(known)):
            raise


def _was_given(run: Run, code: str) -> bool:
    given = Entry.objects.filter(
        run_id=run.pk, type="allowance.given", payload__contains=f'"{code}"'
    )
    payloads = given.values_list("payload", flat=True)
    return any(json.loads(payload)["allowance"] == code for payload in payloads)
