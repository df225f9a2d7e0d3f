"""Subscribers in this very process: Django's signal `loop_event`.

Sent after the commit by whichever worker comes first, each event once. It is a hint like
every message inside a process: what must not be lost is sent by webhook, or read from the
ledger.
"""

from __future__ import annotations

import json
import logging

from django.dispatch import Signal

from ledger.models import Entry
from loop.models import ProjectLoop
from loop.runs import loop_of

# Receivers get `event`, the same document that webhooks carry, and `project_id`.
loop_event = Signal()

logger = logging.getLogger(__name__)


def tell_subscribers(project_id: int) -> int:
    """Send what was emitted since the last time; how many events this call sent."""
    told = 0
    loop = loop_of(project_id)
    entries = Entry.objects.filter(
        project_id=project_id, type="loop.emitted", position__gt=loop.told
    ).order_by("position")
    before = loop.told
    for entry in entries:
        # Whoever moves the cursor sends: nobody else does, now or later.
        cursor = ProjectLoop.objects.filter(pk=project_id, told=before)
        if not cursor.update(told=entry.position):
            return told
        before = entry.position
        _send(json.loads(entry.payload)["event"], project_id=project_id)
        told += 1
    return told


def _send(event: dict[str, object], *, project_id: int) -> None:
    answers = loop_event.send_robust(
        sender=ProjectLoop, event=event, project_id=project_id
    )
    for receiver, answer in answers:
        if isinstance(answer, Exception):
            logger.error("%r failed on a loop event", receiver, exc_info=answer)
