"""Turn events into deliveries: each exactly once, numbered without a gap."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from ledger.models import Entry
from webhooks.delivery.retry_schedule import MAX_ATTEMPTS
from webhooks.events import Event, build_events, filter_event_entries
from webhooks.models import Delivery, EndpointStatus, WebhookEndpoint
from webhooks.payloads import build_body

PAGE = 500
# Where nothing became an event the cursor stays until it is this far behind: fewer writes.
# What did is passed at once, subscribed to or not: to describe it again at every look
# would leave the workers no time for anything else.
LAG = 1_000

logger = logging.getLogger(__name__)


def fan_out() -> int:
    """Make deliveries of what is new in the ledger; returns how many."""
    behind = (
        WebhookEndpoint.objects.select_related("project")
        .filter(status=EndpointStatus.ACTIVE, project__head__position__gt=F("cursor"))
        .annotate(head=F("project__head__position"))
    )
    return sum(_catch_up_safely(endpoint, endpoint.head) for endpoint in behind)


def _catch_up_safely(endpoint: WebhookEndpoint, head: int) -> int:
    """An error with one endpoint does not stop the others; the next call tries again."""
    try:
        return _catch_up(endpoint, head)
    except Exception:
        logger.exception("The events of webhook %s could not be read", endpoint.code)
        return 0


def _catch_up(endpoint: WebhookEndpoint, head: int) -> int:
    """One page. `head` was read before the entries: up to it the ledger is complete."""
    entries = list(
        Entry.objects.select_related("run")
        .defer("run__memory", "run__task")
        .filter(
            filter_event_entries(),
            project_id=endpoint.project_id,
            position__gt=endpoint.cursor,
            position__lte=head,
        )
        .order_by("position")[:PAGE]
    )
    full = len(entries) == PAGE
    reached = entries[-1].position if full else head
    events = [
        event
        for event in build_events(entries, slug=endpoint.project.slug)
        if event.type in endpoint.types
    ]
    if not entries and reached - endpoint.cursor < LAG:
        return 0
    with transaction.atomic():
        moved = WebhookEndpoint.objects.filter(
            pk=endpoint.pk,
            status=EndpointStatus.ACTIVE,
            cursor=endpoint.cursor,
            sequence=endpoint.sequence,
        ).update(cursor=reached, sequence=endpoint.sequence + len(events))
        if not moved:
            return 0  # another process did it, or is numbering a delivery right now
        Delivery.objects.bulk_create(
            _build_deliveries(events, endpoint.pk, after=endpoint.sequence)
        )
    return len(events)


def publish(*, project_id: int, event: Event) -> int:
    """Queue an event that is no ledger entry for every subscriber; returns how many.

    Call it in the transaction that the event describes. The database refuses the same
    id for the same endpoint.
    """
    subscribed = [
        endpoint.pk
        for endpoint in WebhookEndpoint.objects.filter(
            project_id=project_id, status=EndpointStatus.ACTIVE
        ).order_by("pk")
        if event.type in endpoint.types
    ]
    for endpoint_id in subscribed:
        publish_to_endpoint(endpoint_id, event)
    return len(subscribed)


def publish_to_endpoint(endpoint_id: int, event: Event) -> Delivery:
    """Queue an event for one endpoint, whatever types it subscribed to."""
    if not transaction.get_connection().in_atomic_block:
        raise RuntimeError(
            "An event is published in the transaction that it describes."
        )
    endpoints = WebhookEndpoint.objects.filter(pk=endpoint_id)
    # This locks the row until the commit, so that no number is used twice.
    endpoints.update(sequence=F("sequence") + 1)
    number = endpoints.values_list("sequence", flat=True).get()
    (delivery,) = _build_deliveries([event], endpoint_id, after=number - 1)
    delivery.save()
    return delivery


def _build_deliveries(
    events: Sequence[Event], endpoint_id: int, *, after: int
) -> list[Delivery]:
    now = timezone.now()
    return [
        _build_delivery(event, endpoint_id, number=number, now=now)
        for number, event in enumerate(events, after + 1)
    ]


def _build_delivery(
    event: Event, endpoint_id: int, *, number: int, now: datetime
) -> Delivery:
    return Delivery(
        endpoint_id=endpoint_id,
        event=event.id,
        type=event.type,
        body=build_body(type=event.type, at=event.at, sequence=number, data=event.data),
        number=number,
        attempts_limit=MAX_ATTEMPTS,
        due_at=now,
        created_at=now,
    )
