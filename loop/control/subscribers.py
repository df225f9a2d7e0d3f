"""Subscribers in this process: Django's signal `loop_event`.

Sent after the commit by the first worker that gets to it, each event once. Like every
message inside a process it is a hint: what must not be lost is sent by webhook, or read
from the ledger.
"""

from __future__ import annotations

import json
import logging

from django.dispatch import Signal

from ledger.models import Entry
from loop.models import ProjectLoop
from loop.runs import get_loop

# Receivers get `event`, the same document that webhooks carry, and `project_id`.
loop_event = Signal()

logger = logging.getLogger(__name__)


def notify_subscribers(project_id: int) -> int:
    """Send the events emitted since the last call; returns how many were sent."""
    sent = 0
    loop = get_loop(project_id)
    entries = Entry.objects.filter(
        project_id=project_id, type="loop.emitted", position__gt=loop.told
    ).order_by("position")
    before = loop.told
    for entry in entries:
        # The worker that moves the cursor sends the event, and no other.
        cursor = ProjectLoop.objects.filter(pk=project_id, told=before)
        if not cursor.update(told=entry.position):
            return sent
        before = entry.position
        _send(json.loads(entry.payload)["event"], project_id=project_id)
        sent += 1
    return sent


def _send(event: dict[str, object], *, project_id: int) -> None:
    answers = loop_event.send_robust(
        sender=ProjectLoop, event=event, project_id=project_id
    )
    for receiver, answer in answers:
        if isinstance(answer, Exception):
            logger.error("%r failed on a loop event", receiver, exc_info=answer)
