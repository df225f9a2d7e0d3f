"""Signs of life: of the beat when it sends a task, of a worker when it takes one."""

from __future__ import annotations

import logging
from typing import Any

from celery import shared_task
from celery.signals import before_task_publish
from django.db import DatabaseError, InterfaceError, connection
from django.utils import timezone

from config.models import Heartbeat

logger = logging.getLogger(__name__)


@shared_task
def heartbeat() -> None:
    """A worker took a task."""
    _leave_mark(Heartbeat.WORKER)


@before_task_publish.connect(sender=heartbeat.name)
def note_beat(**_named: Any) -> None:
    """Before it is handed to Redis: the beat is well, whether Redis is or not."""
    try:
        _leave_mark(Heartbeat.BEAT)
    except (DatabaseError, InterfaceError) as error:
        logger.warning("The beat could not leave its sign of life: %s", error)
    finally:
        connection.close()  # nobody else would, and the next one may need a new one


def _leave_mark(name: str) -> None:
    Heartbeat.objects.update_or_create(name=name, defaults={"at": timezone.now()})
