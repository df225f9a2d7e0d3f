"""The allowance that was given on a review, and what became of it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from guidance.core.runs.allowances import Allowance
from ledger.allowances import (
    get_person_names,
    read_stored_allowances,
    serialize_allowance,
)
from ledger.chain import format_timestamp
from ledger.halts.held_runs import get_judged_time
from ledger.models import FINAL, Entry, Run
from reviews.models import Review
from reviews.transitions import build_allowance

STANDING = "standing"
TIME = "time"
RUN_ENDED = "run_ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenAllowance:
    """`state` is `standing`, or why it ended; `names` are those of people by their actor."""

    allowance: Allowance
    note: str
    state: str
    last_step: int
    ended_at: datetime | None
    ended_by: str
    names: Mapping[str, str]

    @property
    def by(self) -> str | None:
        return self.names.get(self.allowance.by)

    @property
    def taken_back_by(self) -> str | None:
        return self.names.get(self.ended_by)

    @property
    def steps_left(self) -> int:
        standing = self.state == STANDING
        return self.allowance.count_left(self.last_step) if standing else 0

    def to_answer(self) -> dict[str, Any]:
        return {
            **serialize_allowance(
                self.allowance, by=self.by, steps_left=self.steps_left
            ),
            "state": self.state,
            "ended_at": format_timestamp(self.ended_at) if self.ended_at else None,
            "ended_by": self.taken_back_by,
        }


def find_allowance(review: Review, *, at: datetime) -> GivenAllowance | None:
    """Of a review that was ruled on; None where nothing was allowed."""
    if review.kind != "pause" or review.closed_at is None:
        return None
    given = ended = None
    for entry, payload in _list_entries(review):
        if entry.type == "allowance.given":
            given = entry, payload
        else:
            ended = entry, payload
    if given is None:
        return None
    allowance = build_allowance(given[1], given[0].at)
    run = Run.objects.get(pk=review.run_id)
    for standing in read_stored_allowances(run):
        if standing.code == allowance.code:
            allowance = standing  # a halt may have given it more time
    state, ended_at, ended_by = STANDING, None, ""
    if ended is not None:
        state, ended_at = ended[1]["reason"], ended[0].at
        ended_by = ended[0].actor
    elif run.status in FINAL or run.status == "stopped":
        state, ended_at = RUN_ENDED, run.finished_at
    elif get_judged_time(run, at) >= allowance.ends_at:
        state, ended_at = TIME, allowance.ends_at
    return GivenAllowance(
        allowance=allowance,
        note=given[1]["note"],
        state=state,
        last_step=run.last_step,
        ended_at=ended_at,
        ended_by=ended_by,
        names=get_person_names((allowance.by, ended_by)),
    )


def _list_entries(review: Review) -> Iterator[tuple[Entry, dict[str, Any]]]:
    code = str(review.code)
    entries = Entry.objects.filter(
        run_id=review.run_id,
        type__startswith="allowance.",
        at__gte=review.closed_at,
        payload__contains=code,
    )
    for entry in entries.order_by("seq"):
        payload = json.loads(entry.payload)
        if payload["review"] == code:
            yield entry, payload
