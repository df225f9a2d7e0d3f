"""A ruling is held for a few seconds, in which its person may take it back.

Meanwhile it is a row and no ruling: no agent hears of it and nothing may run. The page that
holds it sends it, nobody else: what a page never sent, because it or the server died, is
dropped, and the review says so. Why: docs/adr/0033-the-page-sends-what-it-holds.md.
"""

from __future__ import annotations

import json
import logging
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from secrets import token_hex
from typing import Any

from django.utils import timezone

from common.errors import DomainError
from guidance.core.canonical import hash_text, to_canonical_json
from ledger.chain import format_timestamp
from ledger.plan import Plan
from ledger.state import RunState
from ledger.writer import Change, ChangeRequest, get_writer
from reviews.errors import ReviewNotOpen, RulingHeld, RulingNotHeld
from reviews.models import HeldRuling, Review
from reviews.plan import CLOCK
from reviews.rulings.rule import ReviewChangeRequest, RuleReview
from reviews.schemas.reviews import AllowanceIn, RememberIn

WINDOW = timedelta(seconds=8)
# What a page may take to send it, when the time is over.
GRACE = timedelta(seconds=15)
SWEEP_LIMIT = 500

logger = logging.getLogger(__name__)


def find_held(review: Review, *, user_id: int) -> HeldRuling | None:
    for held in HeldRuling.objects.filter(review=review.pk, by=user_id):
        return held
    return None


def is_stale(held: HeldRuling, at: datetime) -> bool:
    """Whether its page has not sent it, and never will."""
    return at >= held.due_at + GRACE


def read_said(held: HeldRuling) -> dict[str, Any]:
    """As `build_ruling_request` takes it."""
    said: dict[str, Any] = json.loads(held.said)
    said.pop("salt", None)
    remember, allowance = said["remember"], said.get("allowance")
    return {
        **said,
        "remember": RememberIn(**remember) if remember else None,
        "allowance": AllowanceIn(**allowance) if allowance else None,
    }


def write_said(said: dict[str, Any]) -> str:
    remember, allowance = said.get("remember"), said.get("allowance")
    return to_canonical_json(
        {
            **said,
            "salt": token_hex(16),
            "remember": remember.model_dump() if remember else None,
            "allowance": allowance.model_dump() if allowance else None,
        }
    )


def seal_said(action: str, said: str) -> str:
    """Seal it for an entry: nobody finds the choice, and any other has another seal."""
    return hash_text(to_canonical_json([action, said]))


@dataclass(kw_only=True)
class HoldRuling(ReviewChangeRequest):
    """Refused where the ruling itself would be."""

    ruling: RuleReview
    said: str
    before: HeldRuling | None = field(default=None, init=False)

    def load(self, run: RunState, at: datetime) -> None:
        self.ruling.load(run, at)
        self.before = find_held(self.review, user_id=self.person.user_id)

    def decide(self, run: RunState, at: datetime) -> Change[None]:
        review = self.open_review(run)
        self.ruling.refuse_unfit(review, at)
        if self.before is not None and not is_stale(self.before, at):
            raise RulingHeld("You have ruled on this. Take that back first.")
        plan = Plan(run, at)
        due_at = at + WINDOW
        # What was chosen is not told: agents may read the ledger of their run.
        plan.add_entry(
            "review.held",
            actor=self.person.actor,
            payload={
                "review": review.code,
                "due_at": format_timestamp(due_at),
                "sealed": seal_said(self.ruling.action, self.said),
            },
        )
        plan.side_updates.append(
            partial(
                HeldRuling.objects.update_or_create,
                review_id=self.review.pk,
                by_id=self.person.user_id,
                defaults={
                    "action": self.ruling.action,
                    "said": self.said,
                    "held_at": at,
                    "due_at": due_at,
                },
            )
        )
        return plan.change()


@dataclass(kw_only=True)
class TakeBackRuling(ReviewChangeRequest):
    held: HeldRuling | None = field(default=None, init=False)

    def load(self, run: RunState, at: datetime) -> None:
        self.held = find_held(self.review, user_id=self.person.user_id)

    def decide(self, run: RunState, at: datetime) -> Change[None]:
        review = self.open_review(run)
        if self.held is None:
            raise RulingNotHeld(
                "There is nothing to take back: it was sent or dropped."
            )
        plan = Plan(run, at)
        plan.add_entry(
            "review.taken_back",
            actor=self.person.actor,
            payload={"review": review.code, "action": self.held.action},
        )
        rows = HeldRuling.objects.filter(pk=self.held.pk)
        plan.side_updates.append(rows.delete)
        return plan.change()


@dataclass(kw_only=True)
class DropHeldRuling(ChangeRequest[None]):
    """Its page did not send it, or what it sent was refused."""

    held_id: int
    review_code: str
    held: HeldRuling | None = field(default=None, init=False)

    def load(self, run: RunState, at: datetime) -> None:
        rows = HeldRuling.objects.select_related("by").filter(pk=self.held_id)
        self.held = rows.first()

    def decide(self, run: RunState, at: datetime) -> Change[None]:
        review = run.open_review(self.review_code)
        if review is None or self.held is None:
            raise ReviewNotOpen("It was sent or taken back, or the review has ended.")
        plan = Plan(run, at)
        plan.add_entry(
            "review.unsent",
            actor=CLOCK,
            payload={
                "review": review.code,
                "action": self.held.action,
                "by": f"user:{self.held.by.code}",
            },
        )
        rows = HeldRuling.objects.filter(pk=self.held.pk)
        plan.side_updates.append(rows.delete)
        return plan.change()


def drop_held(held: HeldRuling, *, run_code: str, review_code: str) -> None:
    request = DropHeldRuling(
        run_code=run_code, held_id=held.pk, review_code=review_code
    )
    with suppress(ReviewNotOpen):
        get_writer().perform_now(request)


def drop_unsent_rulings() -> int:
    """Those whose page never sent them: each review stays open and says so. Returns how
    many there were."""
    stale = HeldRuling.objects.filter(due_at__lte=timezone.now() - GRACE)
    found = list(stale.select_related("review__run")[:SWEEP_LIMIT])
    for held in found:
        review = held.review
        try:
            drop_held(held, run_code=str(review.run.code), review_code=str(review.code))
        except DomainError:
            logger.exception("A ruling that was not sent could not be dropped")
    # Of reviews that have ended meanwhile nothing needs to be said.
    stale.exclude(review__state="open").delete()
    return len(found)
