"""Celery tasks of notifications. Both are safe to repeat."""

from __future__ import annotations

from celery import shared_task

from notifications import full_queues, services


@shared_task
def send_mails() -> int:
    return services.send_mails() + full_queues.send_queue_mails()


@shared_task
def delete_old_notices() -> int:
    return services.delete_old_notices()
