"""The plans of a run, and what became of each."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils import timezone

from guidance.core.plans.words import get_text
from guidance.core.runs.plans import RunPlan
from ledger.chain import format_timestamp
from ledger.halts.held_runs import get_judged_time
from ledger.models import FINAL, Entry, Run
from ledger.state import build_state
from reviews.agent_plans.ending import RUN_ENDED
from reviews.models import Kind, Review, ReviewState

STANDING = "standing"
_ENDINGS = {"deny": "denied", "abort": "aborted"}
Uses = Mapping[tuple[int, int], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanOfRun:
    """`content` is the plan as it was approved, else as it was submitted. `uses` counts
    the calls that were made of it, by step and call."""

    review: Review
    run: Run
    content: Mapping[str, Any]
    state: str
    is_amended: bool
    uses: Uses
    outside: int
    approved_at: datetime | None
    ends_at: datetime | None
    ended_at: datetime | None

    @property
    def approved_by(self) -> str | None:
        return self.review.ruling.by.username if self.approved_at else None

    def list_steps(self) -> list[dict[str, Any]]:
        return [self._build_step(step) for step in self.content["steps"]]

    def to_answer(self) -> dict[str, Any]:
        return {
            "id": self.content["plan"],
            "run": str(self.run.code),
            "review": str(self.review.code),
            "title": self.content["title"],
            "state": self.state,
            "amended": self.is_amended,
            "steps": self.list_steps(),
            "limits": self.content["limits"],
            "calls_outside": self.outside,
            "submitted_at": format_timestamp(self.review.opened_at),
            "approved_at": _format(self.approved_at),
            "approved_by": self.approved_by,
            "ends_at": _format(self.ends_at),
            "ended_at": _format(self.ended_at),
        }

    def _build_step(self, step: Mapping[str, Any]) -> dict[str, Any]:
        calls = [self._build_call(step["number"], call) for call in step["calls"]]
        sums = {
            name: sum(call[name] for call in calls)
            for name in ("planned", "used", "left")
        }
        named = {name: step[name] for name in ("number", "purpose", "paths", "scope")}
        return {**named, "calls": calls, **sums}

    def _build_call(self, step: int, call: Mapping[str, Any]) -> dict[str, Any]:
        used = self.uses.get((step, call["number"]), 0)
        open_still = self.state == STANDING and call["covered"]
        return {
            "number": call["number"],
            "tool": call["tool"],
            "text": call["covers"] or get_text(call),
            "scope": call["scope"],
            "rules": call["rules"],
            "covered": call["covered"],
            "planned": call["count"],
            "used": used,
            "left": call["count"] - used if open_still else 0,
        }


def list_plans(run: Run) -> list[PlanOfRun]:
    """The newest first. One query more than for a run that has none."""
    reviews = Review.objects.filter(run=run, kind=Kind.PLAN).order_by("-pk")
    found = list(reviews.select_related("ruling__by"))
    if not found:
        return []
    approved, ended = _read_entries(run)
    stands = build_state(run).memory.plan
    return [
        _build_plan(
            run,
            review,
            approved=approved.get(str(review.code)),
            ended=ended.get(str(review.code)),
            stands=stands,
        )
        for review in found
    ]


def _build_plan(
    run: Run,
    review: Review,
    *,
    approved: tuple[datetime, dict[str, Any]] | None,
    ended: tuple[datetime, dict[str, Any]] | None,
    stands: RunPlan | None,
) -> PlanOfRun:
    ruling = getattr(review, "ruling", None)
    amended = ruling.amended if ruling is not None else None
    uses, outside, ended_at = [], 0, None
    ends_at = approved and datetime.fromisoformat(approved[1]["ends_at"])
    if stands is not None and stands.review == str(review.code):
        ends_at = stands.ends_at  # a halt may have given it more time
    if ended is not None:
        ended_at, payload = ended
        uses, outside = payload["used"], payload["outside"]
        state = payload["reason"]
    elif approved is None:
        state = _name_unapproved(review)
    else:
        state, ended_at = _find_state(run, ends_at)
        if stands is not None and stands.review == str(review.code):
            uses, outside = stands.list_uses(), stands.outside
    return PlanOfRun(
        review=review,
        run=run,
        content=json.loads(amended or review.content),
        state=state,
        is_amended=amended is not None,
        uses={(step, call): count for step, call, count in uses},
        outside=outside,
        approved_at=approved and approved[0],
        ends_at=ends_at,
        ended_at=ended_at,
    )


def _find_state(run: Run, ends_at: datetime | None) -> tuple[str, datetime | None]:
    """Of one that no entry has ended."""
    if run.status in FINAL or run.status == "stopped":
        return RUN_ENDED, run.finished_at
    if ends_at is not None and get_judged_time(run, timezone.now()) >= ends_at:
        return "time", ends_at
    return STANDING, None


def _name_unapproved(review: Review) -> str:
    if review.state == ReviewState.OPEN:
        return "submitted"
    if review.state == ReviewState.RULED:
        return _ENDINGS.get(review.ruling.action, "denied")
    return str(review.state)


def _read_entries(
    run: Run,
) -> tuple[
    dict[str, tuple[datetime, dict[str, Any]]],
    dict[str, tuple[datetime, dict[str, Any]]],
]:
    """What was approved and what has ended, by the review."""
    approved: dict[str, tuple[datetime, dict[str, Any]]] = {}
    ended: dict[str, tuple[datetime, dict[str, Any]]] = {}
    entries = Entry.objects.filter(
        run_id=run.pk, type__in=("plan.approved", "plan.ended")
    )
    for entry in entries.order_by("seq"):
        payload = json.loads(entry.payload)
        into = approved if entry.type == "plan.approved" else ended
        into[payload["review"]] = entry.at, payload
    return approved, ended


def _format(at: datetime | None) -> str | None:
    return None if at is None else format_timestamp(at)
