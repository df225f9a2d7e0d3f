"""Ledger events: ended runs and rulings become signals.

Entries are read by position, like everywhere else: a lost task loses nothing, and each
entry is read once. The loop's own entries are left out.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any

from django.db.models import Q, QuerySet

from accounts.models import SYSTEM_AGENTS, SYSTEM_LOOP
from guidance.core.loop.section import LoopSection
from guidance.services import DEFAULT, get_policy_in_force
from ledger.models import Entry, ProjectHead
from ledger.plan import Plan
from ledger.state import RunState
from ledger.writer import Change, ChangeRequest, SealedEntry
from loop.cycle.sense import get_log_type
from loop.errors import NotDue
from loop.inbox.outcomes import link_run
from loop.inbox.triggers import NewSignal, find_cause_id
from loop.models import ProjectLoop
from loop.runs import get_loop, perform, refuse_closed_run
from safetext import make_visible_line

AT_ONCE = 200
RULED = "review.ruled"
_ENDS = Q(type__in=("run.finished", "run.aborted", "run.abandoned", "run.stopped")) | Q(
    type="step.judged", decision="stop"
)
_WORDS_LIMIT = 300
# After so many entries without an event the position moves on.
SKIPPED_LIMIT = 500
ACTOR = f"system:{SYSTEM_LOOP}"


def read_ledger_events(project_id: int) -> int:
    """Turn entries since the last call into signals; returns how many."""
    count = 0
    section = get_policy_in_force(project_id=project_id, name=DEFAULT).policy.loop
    while _has_new_entries(project_id, section):
        try:
            count += perform(
                project_id, lambda run: ReadLedgerEvents(run_code=run, section=section)
            )
        except NotDue:
            break
    return count


def _has_new_entries(project_id: int, section: LoopSection) -> bool:
    """Asked before taking the project's lock, since mostly there is nothing."""
    # The head is read before the entries, so that none between them is skipped.
    head = ProjectHead.objects.filter(pk=project_id).values_list("position", flat=True)
    position = head.first() or 0
    after = get_loop(project_id).heard
    if _filter_entries(project_id, after=after, section=section).exists():
        return True
    if position - after >= SKIPPED_LIMIT:
        loops = ProjectLoop.objects.filter(pk=project_id, heard=after)
        loops.update(heard=position)
    return False


def _filter_entries(
    project_id: int, *, after: int, section: LoopSection
) -> QuerySet[Entry]:
    wanted = Q(pk__in=())  # nothing, so far
    if section.signals_from.run_ends:
        wanted |= _ENDS
    if section.signals_from.rulings:
        wanted |= Q(type=RULED)
    entries = Entry.objects.filter(wanted, project_id=project_id, position__gt=after)
    return entries.exclude(run__intent__in=SYSTEM_AGENTS)


@dataclass(kw_only=True)
class ReadLedgerEvents(ChangeRequest[int]):
    section: LoopSection
    events: list[tuple[Entry, NewSignal, int | None]] = field(
        default_factory=list, init=False
    )

    def load(self, run: RunState, at: datetime) -> None:
        """Each entry with its signal and the id of the decision that caused it."""
        loop = ProjectLoop.objects.get(pk=run.project_id)
        found = _filter_entries(run.project_id, after=loop.heard, section=self.section)
        entries = found.select_related("run__agent").order_by("position")[:AT_ONCE]
        self.events = []
        for entry in entries:
            signal = build_signal(entry)
            cause_id = find_cause_id(signal.data, project_id=run.project_id)
            self.events.append((entry, signal, cause_id))

    def decide(self, run: RunState, at: datetime) -> Change[int]:
        refuse_closed_run(run)
        if not self.events:
            raise NotDue("Nothing new is in the ledger.")
        plan = Plan(run, at)
        for entry, signal, cause_id in self.events:
            plan.rows.append(
                signal.build_row(
                    project_id=run.project_id,
                    at=at,
                    position=entry.position,
                    cause_id=cause_id,
                )
            )
            if entry.type != RULED:
                link_run(plan, entry.run, signal)
        last = self.events[-1][0].position
        plan.add_entry(
            "loop.heard",
            actor=ACTOR,
            payload={"upto": last, "signals": len(self.events)},
        )
        loops = ProjectLoop.objects.filter(pk=run.project_id)
        plan.side_updates.append(partial(loops.update, heard=last))
        return plan.change(partial(_count, len(self.events)))


def _count(count: int, _entries: Sequence[SealedEntry]) -> int:
    return count


def build_signal(entry: Entry) -> NewSignal:
    """The signal that an entry becomes."""
    payload = json.loads(entry.payload)
    if entry.type == RULED:
        said = {
            "kind": RULED,
            "review": payload["review"],
            "review_kind": payload["kind"],
            "ruling": payload["action"],
        }
        return _build_own_signal("system/note", entry, said)
    status = get_log_type(entry.type, payload).removeprefix("run.")
    done = status == "completed"
    words = str(payload.get("summary") or payload.get("reason") or "")
    return _build_own_signal(
        "agent/loop.complete" if done else "agent/loop.failed",
        entry,
        {"status": status, "said": make_visible_line(words, limit=_WORDS_LIMIT)},
    )


def _build_own_signal(type: str, entry: Entry, said: dict[str, Any]) -> NewSignal:
    run = entry.run
    data = {
        "run": str(run.code),
        "agent": make_visible_line(run.agent.name, limit=100),
        "intent": run.intent,
        **said,
    }
    # A run that an event started says so in its labels.
    if "decision_id" in run.labels:
        data["decision_id"] = run.labels["decision_id"]
    return NewSignal(type=type, source="own", actor=ACTOR, data=data)
