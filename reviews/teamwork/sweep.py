"""What time does: claims end by themselves, and what was set aside comes back.

A sweep finds what is due; the change request judges again under the lock.
"""

from __future__ import annotations

import logging

from django.db.models import F, Q
from django.utils import timezone

from common.errors import DomainError
from ledger.halts.held_runs import exclude_held
from ledger.writer import ChangeRequest, get_writer
from reviews.errors import ReviewNotOpen
from reviews.models import Review, SnoozedFor
from reviews.queue.filters import OPEN
from reviews.teamwork.claims import EndClaim
from reviews.teamwork.snooze import EndSnooze

SWEEP_LIMIT = 500

logger = logging.getLogger(__name__)


def end_claims() -> int:
    """End every claim whose time is over; returns how many ended here."""
    due = Review.objects.filter(
        state=OPEN, claimed_until__lte=timezone.now()
    ).values_list("run__code", "code")[:SWEEP_LIMIT]
    return sum(
        _attempt(EndClaim(run_code=str(run), review_code=str(review)))
        for run, review in due
    )


def return_snoozed() -> int:
    """Bring back what was set aside and is due; returns how many came back here."""
    aside = Review.objects.filter(state=OPEN, snoozed_until__isnull=False)
    moved = Q(snoozed_for=SnoozedFor.RUN, run__head_seq__gt=F("snoozed_seq"))
    over = aside.filter(snoozed_until__lte=timezone.now())
    timed = over.filter(snoozed_for=SnoozedFor.TIME)
    for_event = exclude_held(over.exclude(snoozed_for=SnoozedFor.TIME), run="run_id")
    codes = {
        code
        for due in (timed, for_event, aside.filter(moved))
        for code in due.values_list("run__code", "code")[:SWEEP_LIMIT]
    }
    return sum(
        _attempt(EndSnooze(run_code=str(run), review_code=str(review)))
        for run, review in sorted(codes)
    )


def _attempt(change_request: ChangeRequest[bool]) -> bool:
    try:
        return get_writer().perform_now(change_request)
    except ReviewNotOpen:
        return False  # somebody was faster
    except DomainError:
        logger.exception("A sweep could not free a review")
        return False
