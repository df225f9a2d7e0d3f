"""Celery's doors: each calls one use case. All are safe to repeat."""

from __future__ import annotations

from django.utils import timezone

from config.celery import app
from config.models import Heartbeat
from ledger.idempotency import delete_old_keys
from reviews.expiry import abandon_silent_runs, expire_due_reviews
from webhooks.delivery.worker import deliver
from webhooks.services import forget_old_deliveries


@app.task
def heartbeat() -> None:
    """A worker took a task that beat sent: both are alive."""
    Heartbeat.objects.update_or_create(
        name=Heartbeat.WORKER, defaults={"at": timezone.now()}
    )


@app.task
def expire_reviews() -> int:
    return expire_due_reviews()


@app.task
def abandon_runs() -> int:
    return abandon_silent_runs()


@app.task
def forget_keys() -> int:
    return delete_old_keys()


@app.task
def deliver_webhooks() -> int:
    return deliver()


@app.task
def forget_deliveries() -> int:
    return forget_old_deliveries()
