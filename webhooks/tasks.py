"""Celery tasks of webhooks. Both are safe to repeat."""

from __future__ import annotations

from celery import shared_task

from webhooks import services
from webhooks.delivery.worker import deliver


@shared_task
def deliver_webhooks() -> int:
    return deliver()


@shared_task
def delete_old_deliveries() -> int:
    return services.delete_old_deliveries()
