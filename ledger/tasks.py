"""Celery tasks of the ledger. Safe to repeat."""

from __future__ import annotations

from celery import shared_task

from ledger.idempotency import delete_old_keys


@shared_task
def delete_idempotency_keys() -> int:
    return delete_old_keys()
