"""Time that stood still is given back: each run of a released halt gets one entry of it.

A task writes them. Until it is through, whatever judges a deadline under the project's lock
has the run's entry written first (`ledger.writer.halts.register_mover`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from accounts.models import SYSTEM_AGENTS
from common.errors import DomainError
from guidance.core.runs.allowances import Allowance
from guidance.core.runs.halts import Interval, measure_halted
from guidance.core.runs.plans import RunPlan
from ledger.chain import format_timestamp
from ledger.halts.held_runs import filter_open
from ledger.models import Entry, Halt, Run
from ledger.plan import Plan
from ledger.state import RunState
from ledger.waiting.task_hints import TaskHints
from ledger.writer import Change, ChangeRequest, get_writer
from ledger.writer.halts import KnownHalt, build_known, raise_halts_version
from ledger.writer.locking import lock_project
from ledger.writer.state_cache import StateCache
from reviews.models import Grant, GrantState, Review, ReviewState
from reviews.plan import CLOCK
from reviews.teamwork.snooze import waits_for_event

TYPE = "run.deadlines_moved"
HINTS = TaskHints("reviews.tasks.move_deadlines")


@dataclass(kw_only=True)
class MoveDeadlines(ChangeRequest[None]):
    """All that had a time left goes on where the halt found it."""

    moves_deadlines = True
    halt: KnownHalt
    earlier: Sequence[Interval] = field(default=(), init=False)
    reviews: Sequence[Review] = field(default=(), init=False)
    grants: Sequence[Grant] = field(default=(), init=False)
    plan_approved_at: datetime | None = field(default=None, init=False)
    done: bool = field(default=False, init=False)

    def load(self, run: RunState, at: datetime) -> None:
        self.done = find_move(run, self.halt) is None
        self.earlier = _list_earlier(run, self.halt)
        reviews = Review.objects.filter(run_id=run.id, state=ReviewState.OPEN)
        grants = Grant.objects.filter(run_id=run.id, state=GrantState.ISSUED)
        self.reviews = list(reviews.order_by("pk"))
        self.grants = list(grants.order_by("pk"))
        if run.memory.plan is not None:
            approved = Entry.objects.filter(run_id=run.id, type="plan.approved")
            self.plan_approved_at = approved.latest("seq").at

    def decide(self, run: RunState, at: datetime) -> Change[None]:
        if self.done:
            raise DeadlinesMoved("The run has its time back already.")
        plan = Plan(run, at)
        since = run.running_time.since if run.running_time else None
        moved_since = since and since + self._measure(since)
        payload = {
            "halt": self.halt.code,
            "ms": self._measure(self.halt.at) // timedelta(milliseconds=1),
            "reviews": [self._move_review(plan, each) for each in self.reviews],
            "grants": [self._move_grant(plan, each) for each in self.grants],
            "running_since": moved_since and moved_since.isoformat(),
            "allowances": [
                self._move_allowance(each) for each in run.memory.allowances
            ],
            "plan": self._move_plan(run.memory.plan),
        }
        plan.add_entry(TYPE, actor=CLOCK, payload=payload)
        self._keep_aside(plan, run)
        return plan.change()

    def _measure(self, since: datetime) -> timedelta:
        return measure_halted(self.halt.interval, earlier=self.earlier, since=since)

    def _move_review(self, plan: Plan, review: Review) -> dict[str, Any]:
        """One that is late already stays so."""
        more = self._measure(review.opened_at)
        due_at = review.due_at + more
        answer_by = review.answer_by if review.late_at else review.answer_by + more
        times = {"answer_by": answer_by, "due_at": due_at}
        if review.snoozed_until is not None and waits_for_event(review):
            times["snoozed_until"] = review.snoozed_until + more
        rows = Review.objects.filter(pk=review.pk)
        plan.side_updates.append(partial(rows.update, **times))
        told = {name: format_timestamp(at) for name, at in times.items()}
        return {"review": str(review.code), **told}

    def _keep_aside(self, plan: Plan, run: RunState) -> None:
        """This entry is nothing that somebody waits for who set a review aside."""
        rows = Review.objects.filter(
            pk__in=[review.pk for review in self.reviews], snoozed_seq=run.head_seq
        )
        plan.side_updates.append(partial(rows.update, snoozed_seq=plan.next_seq - 1))

    def _move_allowance(self, allowance: Allowance) -> dict[str, str]:
        ends_at = allowance.ends_at + self._measure(allowance.given_at)
        return {"allowance": allowance.code, "ends_at": format_timestamp(ends_at)}

    def _move_plan(self, approved: RunPlan | None) -> dict[str, str] | None:
        if approved is None or self.plan_approved_at is None:
            return None
        ends_at = approved.ends_at + self._measure(self.plan_approved_at)
        return {"plan": approved.code, "ends_at": format_timestamp(ends_at)}

    def _move_grant(self, plan: Plan, grant: Grant) -> dict[str, Any]:
        expires_at = grant.expires_at + self._measure(grant.issued_at)
        rows = Grant.objects.filter(pk=grant.pk)
        plan.side_updates.append(partial(rows.update, expires_at=expires_at))
        return {
            "call": str(grant.call_id),
            "grant": str(grant.code),
            "expires_at": format_timestamp(expires_at),
        }


class DeadlinesMoved(DomainError):
    """Internal: somebody else has moved them."""


def find_move(run: RunState, halt: KnownHalt) -> MoveDeadlines | None:
    """What is to be done before a deadline of this run is judged; None if nothing is."""
    began = Run.objects.filter(pk=run.id, created_at__lt=halt.released_at)
    if not run.open_reviews:
        began = began.exclude(intent__in=SYSTEM_AGENTS)  # nothing of theirs is due
    if run.closed or run.observed or not began.exists() or _is_moved(run.id, halt):
        return None
    return MoveDeadlines(run_code=run.code, halt=halt)


def _is_moved(run_id: int, halt: KnownHalt) -> bool:
    told = Entry.objects.filter(run_id=run_id, type=TYPE, at__gte=halt.at)
    return any(
        json.loads(payload)["halt"] == halt.code
        for payload in told.values_list("payload", flat=True)
    )


def _list_earlier(run: RunState, halt: KnownHalt) -> list[Interval]:
    """Of halts that were released before this one, and held the run at the same time."""
    before = Q(released_at__lt=halt.released_at) | Q(
        released_at=halt.released_at, pk__lt=halt.id
    )
    rows = Halt.objects.filter(
        before, project_id=run.project_id, released_at__gt=halt.at
    ).select_related("by")
    return [known.interval for known in map(build_known, rows) if known.covers(run)]


def move_deadlines() -> int:
    """Give every run of released halts its time back; how many got it here."""
    unsettled = Halt.objects.filter(
        released_at__isnull=False, deadlines_moved_at=None
    ).select_related("by")
    return sum(map(_move_all, unsettled.order_by("released_at", "pk")))


def _move_all(row: Halt) -> int:
    moved = 0
    for move in _list_moves(row):
        with suppress(DeadlinesMoved):
            get_writer().perform_now(move)
            moved += 1
    _settle(row)
    return moved


def _list_moves(row: Halt) -> Iterator[MoveDeadlines]:
    halt, states = build_known(row), StateCache()
    runs = filter_open(row).filter(created_at__lt=row.released_at).order_by("pk")
    for code in runs.values_list("code", flat=True):
        move = find_move(states.read(str(code)), halt)
        if move is not None:
            yield move


def _settle(row: Halt) -> None:
    """While nobody else writes to the project: no run is left out. What comes up in
    between is found by the next sweep."""
    with transaction.atomic():
        lock_project(row.project_id)
        if next(_list_moves(row), None) is not None:
            return
        rows = Halt.objects.filter(pk=row.pk, deadlines_moved_at=None)
        if rows.update(deadlines_moved_at=timezone.now()):
            raise_halts_version(row.project_id)
