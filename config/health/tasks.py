"""The Celery task that shows that background work is alive."""

from __future__ import annotations

from celery import shared_task
from django.utils import timezone

from config.models import Heartbeat


@shared_task
def heartbeat() -> None:
    """A worker took a task that beat sent: both are alive."""
    Heartbeat.objects.update_or_create(
        name=Heartbeat.WORKER, defaults={"at": timezone.now()}
    )
