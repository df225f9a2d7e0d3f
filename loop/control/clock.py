"""What the clock does: heartbeats where they are due, and what nobody confirmed."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from django.utils import timezone

from accounts.auth import PersonPrincipal
from accounts.models import Role
from accounts.selectors import require_role
from common.errors import DomainError
from common.responses import Reply
from guidance.core.loop.section import LoopSection
from guidance.core.loop.vocabulary import HEARTBEAT, WAKE
from guidance.services import DEFAULT, policy_in_force
from ledger.models import ProjectHead
from ledger.state import RunState
from ledger.writer import Change, ChangeRequest, SealedEntry, nothing
from loop.control.subscribers import tell_subscribers
from loop.cycle.pipeline import decide_pending
from loop.errors import NotDue
from loop.inbox.ledger_events import hear
from loop.inbox.notes import return_unconfirmed
from loop.inbox.triggers import NewSignal, accepted
from loop.models import ProjectLoop
from loop.runs import loop_of, perform, refuse_moved
from reviews.plan import Plan

CLOCK = "system:clock"

logger = logging.getLogger(__name__)


def tick() -> int:
    """Every project that has a ledger: beat where due, then decide whatever waits."""
    decided = 0
    for project_id in every_project():
        try:
            decided += attend(project_id)
        except DomainError:
            # One project's trouble is not the others'; the next tick comes to it again.
            logger.exception(
                "The loop of project %d could not be looked at", project_id
            )
    return decided


def every_project() -> list[int]:
    return list(ProjectHead.objects.values_list("project_id", flat=True))


def has_ledger(project_id: int) -> bool:
    return ProjectHead.objects.filter(pk=project_id).exists()


def attend(project_id: int) -> int:
    beat(project_id)
    return look(project_id)[0]


def look(project_id: int) -> tuple[int, bool]:
    """Hear, decide, tell: all that waits in one project, whoever asked for it."""
    return_unconfirmed(project_id)
    hear(project_id)
    done = decide_pending(project_id)
    tell_subscribers(project_id)
    return done


def beat(project_id: int) -> bool:
    """A heartbeat, if the policy says that one is due."""
    section = policy_in_force(project_id=project_id, name=DEFAULT).policy.loop
    if not due(loop_of(project_id), section, at=timezone.now()):
        return False
    try:
        perform(project_id, lambda run: Beat(run_code=run, section=section))
    except NotDue:
        return False
    return True


def due(loop: ProjectLoop, section: LoopSection, *, at: datetime) -> bool:
    """The clock's own rhythm, and a gap to whoever looked last."""
    return _past(loop.heartbeat_at, section.heartbeat_s, at) and _past(
        loop.looked_at, section.min_gap_s, at
    )


def _past(moment: datetime | None, seconds: int, at: datetime) -> bool:
    return moment is None or at >= moment + timedelta(seconds=seconds)


@dataclass(kw_only=True)
class Beat(ChangeRequest[None]):
    """Judged again under the lock: two clocks that tick at once beat once."""

    section: LoopSection

    def decide(self, run: RunState, at: datetime) -> Change[None]:
        refuse_moved(run)
        loops = ProjectLoop.objects.filter(pk=run.project_id)
        if not due(loops.get(), self.section, at=at):
            raise NotDue("Somebody else has looked.")
        plan = Plan(run, at)
        NewSignal(type=HEARTBEAT, source="clock", actor=CLOCK).note_in(plan)
        plan.effects.append(partial(loops.update, heartbeat_at=at, looked_at=at))
        return plan.change(nothing)


@dataclass(kw_only=True)
class Wake(ChangeRequest[Reply]):
    signal: NewSignal

    def decide(self, run: RunState, at: datetime) -> Change[Reply]:
        refuse_moved(run)
        plan = Plan(run, at)
        self.signal.note_in(plan)
        loops = ProjectLoop.objects.filter(pk=run.project_id)
        plan.effects.append(partial(loops.update, looked_at=at))
        return plan.change(self._answer)

    def _answer(self, _entries: Sequence[SealedEntry]) -> Reply:
        return accepted(self.signal.code, self.signal.decision_code)


def loop_wake(*, project_id: int, person: PersonPrincipal) -> Reply:
    """A manager's own look, whenever they like."""
    require_role(user_id=person.user_id, project_id=project_id, role=Role.MANAGER)
    signal = NewSignal(type=WAKE, source="manual", actor=person.actor)
    return perform(project_id, lambda run: Wake(run_code=run, signal=signal))
