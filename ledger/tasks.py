"""Celery tasks of the ledger. Safe to repeat."""

from __future__ import annotations

from celery import shared_task
from django.utils import timezone

from ledger.idempotency import delete_old_keys
from ledger.statistics import together
from ledger.verification.project import (
    perform_verifications,
    start_due_verifications,
)
from ledger.verification.retention import delete_old_exports as delete_exports


@shared_task
def delete_idempotency_keys() -> int:
    return delete_old_keys()


@shared_task
def delete_old_exports() -> int:
    return delete_exports(timezone.now())


@shared_task
def keep_figures_and_words() -> int:
    """Safe beside others of its kind: each entry is counted once."""
    return together.keep_figures_and_words()


@shared_task
def start_verifications() -> int:
    """Have the whole ledger of each project checked once a day."""
    return start_due_verifications(timezone.now())


@shared_task
def verify_ledgers() -> int:
    return perform_verifications()
