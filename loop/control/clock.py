"""The clock: heartbeats that are due, and one cycle after another for each project."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial

from django.utils import timezone

from accounts.auth import PersonPrincipal
from accounts.models import Role
from accounts.selectors import require_role
from common.responses import Reply
from guidance.core.loop.section import LoopSection
from guidance.core.loop.vocabulary import HEARTBEAT, WAKE
from guidance.services import DEFAULT, get_policy_in_force
from ledger.models import ProjectHead
from ledger.plan import Plan
from ledger.state import RunState
from ledger.writer import Change, ChangeRequest, SealedEntry
from loop.control.subscribers import notify_subscribers
from loop.cycle.pipeline import decide_pending
from loop.errors import NotDue
from loop.inbox.ledger_events import read_ledger_events
from loop.inbox.notes import return_unconfirmed_notes
from loop.inbox.triggers import NewSignal, build_accepted_reply
from loop.models import ProjectLoop
from loop.runs import get_loop, perform, refuse_closed_run

CLOCK = "system:clock"

logger = logging.getLogger(__name__)


def tick() -> int:
    """For every project with a ledger: heartbeat if due, then decide what waits."""
    decided = 0
    for project_id in list_project_ids():
        try:
            decided += attend_project(project_id)
        except Exception:
            # One project's trouble must not stop the others; the next tick retries it.
            logger.exception("The loop of project %d failed", project_id)
    return decided


def list_project_ids() -> list[int]:
    return list(ProjectHead.objects.values_list("project_id", flat=True))


def has_ledger(project_id: int) -> bool:
    return ProjectHead.objects.filter(pk=project_id).exists()


def attend_project(project_id: int) -> int:
    send_heartbeat(project_id)
    return run_cycle(project_id)[0]


def run_cycle(project_id: int) -> tuple[int, bool]:
    """Read the ledger, decide what waits, notify subscribers.

    Returns how many triggers were decided, and whether none is left.
    """
    return_unconfirmed_notes(project_id)
    read_ledger_events(project_id)
    done = decide_pending(project_id)
    notify_subscribers(project_id)
    return done


def send_heartbeat(project_id: int) -> bool:
    """Send a heartbeat if the policy says that one is due."""
    section = get_policy_in_force(project_id=project_id, name=DEFAULT).policy.loop
    if not is_heartbeat_due(get_loop(project_id), section, at=timezone.now()):
        return False
    try:
        perform(project_id, lambda run: SendHeartbeat(run_code=run, section=section))
    except NotDue:
        return False
    return True


def is_heartbeat_due(loop: ProjectLoop, section: LoopSection, *, at: datetime) -> bool:
    """The interval has passed, and so has the shortest gap since the last look."""
    return _has_passed(loop.heartbeat_at, section.heartbeat_s, at) and _has_passed(
        loop.looked_at, section.min_gap_s, at
    )


def _has_passed(moment: datetime | None, seconds: int, at: datetime) -> bool:
    return moment is None or at >= moment + timedelta(seconds=seconds)


@dataclass(kw_only=True)
class SendHeartbeat(ChangeRequest[None]):
    """Checked again under the lock: two clocks at once send one heartbeat."""

    section: LoopSection
    loop: ProjectLoop = field(init=False)

    def load(self, run: RunState, at: datetime) -> None:
        self.loop = ProjectLoop.objects.get(pk=run.project_id)

    def decide(self, run: RunState, at: datetime) -> Change[None]:
        refuse_closed_run(run)
        loops = ProjectLoop.objects.filter(pk=run.project_id)
        if not is_heartbeat_due(self.loop, self.section, at=at):
            raise NotDue("Another clock has sent it.")
        plan = Plan(run, at)
        NewSignal(type=HEARTBEAT, source="clock", actor=CLOCK).add_to(plan)
        plan.side_updates.append(partial(loops.update, heartbeat_at=at, looked_at=at))
        return plan.change()


@dataclass(kw_only=True)
class WakeLoop(ChangeRequest[Reply]):
    signal: NewSignal

    def decide(self, run: RunState, at: datetime) -> Change[Reply]:
        refuse_closed_run(run)
        plan = Plan(run, at)
        self.signal.add_to(plan)
        loops = ProjectLoop.objects.filter(pk=run.project_id)
        plan.side_updates.append(partial(loops.update, looked_at=at))
        return plan.change(self._answer)

    def _answer(self, _entries: Sequence[SealedEntry]) -> Reply:
        return build_accepted_reply(self.signal.code, self.signal.decision_code)


def wake_loop(*, project_id: int, person: PersonPrincipal) -> Reply:
    """Send a wake signal on behalf of a manager."""
    require_role(user_id=person.user_id, project_id=project_id, role=Role.MANAGER)
    signal = NewSignal(type=WAKE, source="manual", actor=person.actor)
    return perform(project_id, lambda run: WakeLoop(run_code=run, signal=signal))
