"""Celery tasks of reviews. All are safe to repeat."""

from __future__ import annotations

import threading

from celery import shared_task
from django.utils import timezone

from reviews.halts import deadlines
from reviews.policies.backtest.perform import perform_next
from reviews.policies.moves import move_running_runs
from reviews.policies.suggestions.perform import perform_next_search
from reviews.policies.suggestions.services import start_due_searches
from reviews.rulings import expiry, held
from reviews.teamwork.sweep import end_claims, return_snoozed

# One thread of a process runs backtests: the others do what cannot wait.
_backtesting = threading.Lock()


@shared_task
def expire_reviews() -> int:
    """Those whose time is over; of the others, it is told which are late, and which
    rulings on them were never sent."""
    held.drop_unsent_rulings()
    expired = expiry.expire_due_reviews()
    expiry.note_late_reviews()
    return expired


@shared_task
def release_reviews() -> int:
    """Those whose claim is over, and those that were set aside until now."""
    return end_claims() + return_snoozed()


@shared_task
def abandon_runs() -> int:
    return expiry.abandon_silent_runs()


@shared_task
def stop_overdue_runs() -> int:
    return expiry.stop_overdue_runs()


@shared_task
def move_deadlines() -> int:
    return deadlines.move_deadlines()


@shared_task
def move_runs() -> int:
    return move_running_runs()


@shared_task
def search_suggestions() -> int:
    """Have the history of policies looked through, each once a day."""
    return start_due_searches(timezone.now())


@shared_task
def run_backtests() -> int:
    """Run all that wait, and those whose worker is gone, one after the other. A search for
    suggestions comes after the backtests, for which somebody waits."""
    if not _backtesting.acquire(blocking=False):
        return 0
    try:
        done = 0
        while perform_next() or perform_next_search():
            done += 1
        return done
    finally:
        _backtesting.release()
