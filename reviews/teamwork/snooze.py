"""Setting a review aside until a time or an event. It comes back by itself, at the latest
when it is to be answered; one that is late already, before it ends."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from functools import partial

from common.errors import Invalid
from ledger.chain import format_timestamp
from ledger.plan import Plan
from ledger.state import RunState
from ledger.writer import Change, ChangeRequest
from reviews.errors import ReviewNotOpen
from reviews.models import Review, SnoozedFor
from reviews.plan import CLOCK
from reviews.rulings.rule import ReviewChangeRequest

BACK: dict[str, object] = {
    "snoozed_until": None,
    "snoozed_for": "",
    "snoozed_seq": None,
}


def get_latest(review: Review, at: datetime) -> datetime:
    """No review is set aside for longer."""
    return review.answer_by if at < review.answer_by else review.due_at


def waits_for_event(review: Review) -> bool:
    """Whether no time of day was chosen: it is back when it is to be answered, which is
    later by the time for which its run is halted."""
    return review.snoozed_for in {SnoozedFor.RUN, SnoozedFor.COMMENT}


@dataclass(kw_only=True)
class SnoozeReview(ReviewChangeRequest):
    """`until` is None where an event brings it back: `event` is of `SnoozedFor`."""

    event: str
    until: datetime | None = None

    def decide(self, run: RunState, at: datetime) -> Change[None]:
        review = self.open_review(run)
        latest = get_latest(self.review, at)
        until = self.until or latest
        if not at < until <= latest:
            raise Invalid(
                f"It can be set aside until {format_timestamp(latest)} at the latest, "
                "and not until a time that is over.",
                errors=[{"loc": ["until"], "message": "too late, or over"}],
            )
        plan = Plan(run, at)
        plan.add_entry(
            "review.snoozed",
            actor=self.person.actor,
            payload={
                "review": review.code,
                "until": format_timestamp(until),
                "event": self.event,
            },
        )
        plan.side_updates.append(
            self.build_update(
                snoozed_until=until,
                snoozed_for=self.event,
                snoozed_seq=plan.next_seq - 1,
            )
        )
        return plan.change()


class ReturnReview(ReviewChangeRequest):
    """A person brings it back."""

    def decide(self, run: RunState, at: datetime) -> Change[None]:
        review = self.open_review(run)
        plan = Plan(run, at)
        payload = {"review": review.code, "cause": "person"}
        plan.add_entry("review.returned", actor=self.person.actor, payload=payload)
        plan.side_updates.append(self.build_update(**BACK))
        return plan.change()


@dataclass(kw_only=True)
class EndSnooze(ChangeRequest[bool]):
    """Its time has come, or something happened in its run."""

    review_code: str
    row: Review | None = field(default=None, init=False)

    def load(self, run: RunState, at: datetime) -> None:
        rows = Review.objects.filter(code=self.review_code, snoozed_until__isnull=False)
        self.row = rows.only("snoozed_until", "snoozed_for", "snoozed_seq").first()

    def decide(self, run: RunState, at: datetime) -> Change[bool]:
        cause = self._find_cause(run, at)
        if run.open_review(self.review_code) is None or self.row is None or not cause:
            raise ReviewNotOpen("It is still set aside, or is back already.")
        plan = Plan(run, at)
        payload = {"review": self.review_code, "cause": cause}
        plan.add_entry("review.returned", actor=CLOCK, payload=payload)
        rows = Review.objects.filter(pk=self.row.pk)
        plan.side_updates.append(partial(rows.update, **BACK))
        return plan.change(lambda _entries: True)

    def _find_cause(self, run: RunState, at: datetime) -> str:
        row = self.row
        if row is None or row.snoozed_until is None:
            return ""
        if row.snoozed_until <= at and not (self.halted and waits_for_event(row)):
            return "time"
        moved = run.head_seq > (row.snoozed_seq or 0)
        return "run" if row.snoozed_for == SnoozedFor.RUN and moved else ""
