"""The loop's own ears: ends of runs and rulings become signals, read from the ledger.

By position, like every consumer of the ledger: a lost task loses nothing, and each entry
is heard once. What the loop wrote itself it does not hear.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from django.db.models import Q, QuerySet

from accounts.models import SYSTEM_LOOP
from guidance.core.loop.section import LoopSection
from guidance.services import DEFAULT, policy_in_force
from ledger.models import Entry, ProjectHead
from ledger.state import RunState
from ledger.writer import Change, ChangeRequest, SealedEntry
from loop.cycle.sense import logged_type
from loop.errors import NotDue
from loop.inbox.outcomes import link_run
from loop.inbox.triggers import NewSignal
from loop.models import ProjectLoop
from loop.runs import loop_of, perform, refuse_moved
from reviews.plan import Plan
from safetext import visible_line

AT_ONCE = 200
RULED = "review.ruled"
_ENDS = Q(type__in=("run.finished", "run.aborted", "run.abandoned", "run.stopped")) | Q(
    type="step.judged", decision="stop"
)
_WORDS_LIMIT = 300
# So many entries that nobody wants to hear are passed over for good.
SKIPPED_LIMIT = 500
EARS = f"system:{SYSTEM_LOOP}"


def hear(project_id: int) -> int:
    """Turn what happened since the last time into signals; how many there were."""
    heard = 0
    section = policy_in_force(project_id=project_id, name=DEFAULT).policy.loop
    while _news(project_id, section):
        try:
            heard += perform(
                project_id, lambda run: Hear(run_code=run, section=section)
            )
        except NotDue:
            break
    return heard


def _news(project_id: int, section: LoopSection) -> bool:
    """Whether there is anything to hear: most looks find nothing, and cost no lock."""
    # First the end, then what lies before it: what comes later is for the next look.
    end = ProjectHead.objects.filter(pk=project_id).values_list("position", flat=True)
    position = end.first() or 0
    after = loop_of(project_id).heard
    if _entries(project_id, after=after, section=section).exists():
        return True
    if position - after >= SKIPPED_LIMIT:
        loops = ProjectLoop.objects.filter(pk=project_id, heard=after)
        loops.update(heard=position)
    return False


def _entries(project_id: int, *, after: int, section: LoopSection) -> QuerySet[Entry]:
    wanted = Q(pk__in=())
    if section.run_ends:
        wanted |= _ENDS
    if section.rulings:
        wanted |= Q(type=RULED)
    entries = Entry.objects.filter(wanted, project_id=project_id, position__gt=after)
    return entries.exclude(run__intent=SYSTEM_LOOP)


@dataclass(kw_only=True)
class Hear(ChangeRequest[int]):
    section: LoopSection

    def decide(self, run: RunState, at: datetime) -> Change[int]:
        refuse_moved(run)
        loop = ProjectLoop.objects.get(pk=run.project_id)
        found = _entries(run.project_id, after=loop.heard, section=self.section)
        entries = list(
            found.select_related("run__agent").order_by("position")[:AT_ONCE]
        )
        if not entries:
            raise NotDue("Nothing new is in the ledger.")
        plan = Plan(run, at)
        for entry in entries:
            signal = signal_of(entry)
            plan.rows.append(
                signal.row(project_id=run.project_id, at=at, position=entry.position)
            )
            if entry.type != RULED:
                link_run(plan, entry.run, signal)
        last = entries[-1].position
        plan.note(
            "loop.heard",
            actor=EARS,
            payload={"upto": last, "signals": len(entries)},
        )
        loops = ProjectLoop.objects.filter(pk=run.project_id)
        plan.effects.append(partial(loops.update, heard=last))
        return plan.change(partial(_heard, len(entries)))


def _heard(count: int, _entries: Sequence[SealedEntry]) -> int:
    return count


def signal_of(entry: Entry) -> NewSignal:
    """What an entry means to the loop."""
    payload = json.loads(entry.payload)
    if entry.type == RULED:
        said = {
            "kind": RULED,
            "review": payload["review"],
            "review_kind": payload["kind"],
            "ruling": payload["action"],
        }
        return _own("system/note", entry, said)
    status = logged_type(entry.type, payload).removeprefix("run.")
    done = status == "completed"
    words = str(payload.get("summary") or payload.get("reason") or "")
    return _own(
        "agent/loop.complete" if done else "agent/loop.failed",
        entry,
        {"status": status, "said": visible_line(words, limit=_WORDS_LIMIT)},
    )


def _own(type: str, entry: Entry, said: dict[str, Any]) -> NewSignal:
    run = entry.run
    data = {
        "run": str(run.code),
        "agent": visible_line(run.agent.name, limit=100),
        "intent": run.intent,
        **said,
    }
    # A run that an event started says so in its labels.
    if "decision_id" in run.labels:
        data["decision_id"] = run.labels["decision_id"]
    return NewSignal(type=type, source="own", actor=EARS, data=data)
