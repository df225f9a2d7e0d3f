"""The run that holds a project's loop decisions, and how requests are performed on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any, TypeVar

from django.utils import timezone

from accounts.models import SYSTEM_LOOP
from guidance.services import DEFAULT, get_policy_in_force
from ledger.models import Entry, Run
from ledger.plan import Plan
from ledger.state import RunState
from ledger.writer import Change, ChangeRequest, get_writer
from ledger.writer.system_runs import RunStarted, StartSystemRun
from loop.errors import LoopMoved, NotDue
from loop.models import ProjectLoop

T = TypeVar("T")
TASK = "System loop"
# After so many entries a new run follows, so that each stays quick to verify.
ENTRIES_LIMIT = 10_000
# When a project's loop first runs, it reads the ledger from this far back.
LOOKS_BACK = timedelta(minutes=15)


def perform(project_id: int, make: Callable[[str], ChangeRequest[T]]) -> T:
    """Perform a request on the loop's run; on its successor if that has ended."""
    while True:
        try:
            return get_writer().perform_now(make(ensure_run(project_id)))
        except LoopMoved:
            continue


def refuse_closed_run(run: RunState) -> None:
    """The loop's run may have been closed since it was looked up."""
    if run.closed:
        raise LoopMoved.from_run(run)


def get_loop(project_id: int) -> ProjectLoop:
    loops = ProjectLoop.objects.select_related("run", "paused_by")
    found = loops.filter(pk=project_id).first()
    if found is None:
        ProjectLoop.objects.get_or_create(
            project_id=project_id, defaults=_find_start_positions(project_id)
        )
        found = loops.get(pk=project_id)
    return found


def ensure_run(project_id: int) -> str:
    """The code of the run for new decisions; starts one if there is none."""
    # Called before every request, so it reads one column of one row.
    known = Run.objects.filter(projectloop=project_id, finished_at__isnull=True)
    usable = known.exclude(head_seq__gte=ENTRIES_LIMIT, open_reviews="[]")
    code = usable.values_list("code", flat=True).first()
    return str(code) if code is not None else _start_next_run(project_id)


def _start_next_run(project_id: int) -> str:
    run = get_loop(project_id).run
    if run is not None and run.finished_at is None:
        try:
            get_writer().perform_now(EndLoopRun(run_code=str(run.code)))
        except LoopMoved:
            pass  # another worker has ended it
        except NotDue:
            return str(run.code)  # not long enough yet, or it has an open review
    policy = get_policy_in_force(project_id=project_id, name=DEFAULT)
    change_request = StartLoopRun(owner_id=project_id, policy=policy, parent=run)
    try:
        return get_writer().perform_now(change_request)
    except RunStarted:
        return ensure_run(project_id)


def _find_start_positions(project_id: int) -> dict[str, int]:
    before = Entry.objects.filter(
        project_id=project_id, at__lt=timezone.now() - LOOKS_BACK
    ).order_by("-position")
    position = before.values_list("position", flat=True).first() or 0
    return {"heard": position, "told": position}


@dataclass(kw_only=True)
class StartLoopRun(StartSystemRun):
    name: str = SYSTEM_LOOP
    task: str = TASK

    def get_newest_id(self) -> int | None:
        return ProjectLoop.objects.values_list("run_id", flat=True).get(
            pk=self.owner_id
        )

    def add_more(self, plan: Plan) -> None:
        loops = ProjectLoop.objects.filter(pk=self.owner_id)
        plan.side_updates.append(partial(loops.update, run_id=plan.run.id))


@dataclass(kw_only=True)
class EndLoopRun(ChangeRequest[None]):
    def decide(self, run: RunState, at: datetime) -> Change[None]:
        refuse_closed_run(run)
        # An open review belongs to its run, which goes on until that is closed.
        if run.open_reviews or run.head_seq < ENTRIES_LIMIT:
            raise NotDue("The run goes on.")
        plan = Plan(run, at)
        payload: dict[str, Any] = {
            "outcome": "completed",
            "summary": "Long enough: the loop goes on in a new run.",
        }
        plan.add_entry("run.finished", actor=f"system:{SYSTEM_LOOP}", payload=payload)
        return plan.change(lambda _entries: None)
