"""From events to deliveries: once each, numbered without a gap, whoever does it."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from ledger.models import Entry
from webhooks.delivery.retry_schedule import ATTEMPTS
from webhooks.events import TELLING, Event, events_of
from webhooks.models import Delivery, EndpointStatus, WebhookEndpoint
from webhooks.payloads import body_of

PAGE = 500
# Without news the cursor need not move at every look; so many entries are read again.
LAG = 1_000

logger = logging.getLogger(__name__)


def fan_out() -> int:
    """Turn what the ledger has told since into deliveries; returns how many."""
    behind = (
        WebhookEndpoint.objects.select_related("project")
        .filter(status=EndpointStatus.ACTIVE, project__head__position__gt=F("cursor"))
        .annotate(head=F("project__head__position"))
    )
    return sum(_alone(endpoint, endpoint.head) for endpoint in behind)


def _alone(endpoint: WebhookEndpoint, head: int) -> int:
    """One endpoint's trouble is not the others'; it is tried again at the next look."""
    try:
        return _catch_up(endpoint, head)
    except Exception:
        logger.exception("The events of webhook %s were not read", endpoint.code)
        return 0


def _catch_up(endpoint: WebhookEndpoint, head: int) -> int:
    """One page. `head` was read before the entries: up to it the ledger is whole."""
    entries = list(
        Entry.objects.select_related("run")
        .defer("run__memory", "run__task")
        .filter(
            TELLING,
            project_id=endpoint.project_id,
            position__gt=endpoint.cursor,
            position__lte=head,
        )
        .order_by("position")[:PAGE]
    )
    reached = entries[-1].position if len(entries) == PAGE else head
    events = [
        event
        for event in events_of(entries, slug=endpoint.project.slug)
        if event.type in endpoint.types
    ]
    if not events and reached - endpoint.cursor < LAG:
        return 0
    with transaction.atomic():
        moved = WebhookEndpoint.objects.filter(
            pk=endpoint.pk,
            status=EndpointStatus.ACTIVE,
            cursor=endpoint.cursor,
            sequence=endpoint.sequence,
        ).update(cursor=reached, sequence=endpoint.sequence + len(events))
        if not moved:
            return 0  # somebody else did it, or hands out numbers just now
        Delivery.objects.bulk_create(
            _deliveries(events, endpoint.pk, after=endpoint.sequence)
        )
    return len(events)


def publish(*, project_id: int, event: Event) -> int:
    """An event that is no entry, to all who listen to its type; returns how many.

    Call it in the transaction that the event tells of. The same id again is refused by
    the database.
    """
    listening = [
        endpoint.pk
        for endpoint in WebhookEndpoint.objects.filter(
            project_id=project_id, status=EndpointStatus.ACTIVE
        ).order_by("pk")
        if event.type in endpoint.types
    ]
    for endpoint_id in listening:
        publish_to(endpoint_id, event)
    return len(listening)


def publish_to(endpoint_id: int, event: Event) -> Delivery:
    """To one endpoint, whatever it listens to."""
    if not transaction.get_connection().in_atomic_block:
        raise RuntimeError("An event is published in the transaction it tells of.")
    endpoints = WebhookEndpoint.objects.filter(pk=endpoint_id)
    # The row is ours from here to the commit: numbers are handed out one by one.
    endpoints.update(sequence=F("sequence") + 1)
    number = endpoints.values_list("sequence", flat=True).get()
    (delivery,) = _deliveries([event], endpoint_id, after=number - 1)
    delivery.save()
    return delivery


def _deliveries(
    events: Sequence[Event], endpoint_id: int, *, after: int
) -> list[Delivery]:
    now = timezone.now()
    return [
        _delivery(event, endpoint_id, number=number, now=now)
        for number, event in enumerate(events, after + 1)
    ]


def _delivery(
    event: Event, endpoint_id: int, *, number: int, now: datetime
) -> Delivery:
    return Delivery(
        endpoint_id=endpoint_id,
        event=event.id,
        type=event.type,
        body=body_of(event, number),
        number=number,
        attempts_limit=ATTEMPTS,
        due_at=now,
        created_at=now,
    )
