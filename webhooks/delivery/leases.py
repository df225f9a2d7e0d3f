"""Leases on deliveries, taken by compare-and-set: one worker at a time sends each.

A lease ends by itself. If a worker is killed after sending and before storing the
outcome, the delivery is sent again, with the same id and the same bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Protocol
from uuid import UUID, uuid4

from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone

from webhooks.delivery.attempt import LeasedDelivery
from webhooks.delivery.results import disable_and_cancel
from webhooks.models import (
    PENDING_STATES,
    Delivery,
    DeliveryState,
    EndpointStatus,
    WebhookEndpoint,
)
from webhooks.signing import is_key_unchanged, list_valid_secrets

# Longer than waiting for a slot, the attempt and storing its outcome ever take.
LEASE_TIME = timedelta(seconds=90)
KEY_CHANGED = (
    "The server's SECRET_KEY has changed since this secret was made. Rotate the secret, "
    "give it to the receiver and enable the webhook."
)


def _build_due_filter(at: datetime) -> Q:
    return Q(state__in=PENDING_STATES, due_at__lte=at)


def _list_due_endpoints(at: datetime) -> QuerySet[WebhookEndpoint]:
    """Endpoints with due deliveries, healthy ones first."""
    return WebhookEndpoint.objects.filter(
        Q(quiet_until=None) | Q(quiet_until__lte=at),
        Exists(Delivery.objects.filter(_build_due_filter(at), endpoint=OuterRef("pk"))),
        status=EndpointStatus.ACTIVE,
    ).order_by(F("failing_since").asc(nulls_first=True), "pk")


def has_due_deliveries() -> bool:
    return _list_due_endpoints(timezone.now()).exists()


class Capacity(Protocol):
    """How many more deliveries may be in flight, in all and for one endpoint."""

    @property
    def free(self) -> int: ...

    def count_free(self, endpoint_id: int, *, failing: bool) -> int: ...


def lease_due_deliveries(capacity: Capacity) -> list[LeasedDelivery]:
    """Lease what is due, for each endpoint as many as there is capacity for."""
    at = timezone.now()
    leased: list[LeasedDelivery] = []
    for endpoint in _list_due_endpoints(at):
        failing = endpoint.failing_since is not None
        free = capacity.count_free(endpoint.pk, failing=failing)
        most = min(free, capacity.free - len(leased))
        if most > 0:
            leased += _lease_for_endpoint(endpoint, most=most, at=at)
    return leased


def _lease_for_endpoint(
    endpoint: WebhookEndpoint, *, most: int, at: datetime
) -> list[LeasedDelivery]:
    if not is_key_unchanged(endpoint):
        disable_and_cancel(endpoint.pk, reason=KEY_CHANGED, at=at)
        return []
    token = uuid4()
    secrets = list_valid_secrets(endpoint, at=at)
    return [
        LeasedDelivery(
            delivery_id=delivery.pk,
            endpoint_id=endpoint.pk,
            lease=token,
            attempt=delivery.attempts + 1,
            url=endpoint.url,
            webhook_id=delivery.webhook_id,
            body=delivery.body,
            secrets=secrets,
        )
        for delivery in _take_deliveries(endpoint, token, most=most, at=at)
    ]


def _take_deliveries(
    endpoint: WebhookEndpoint, token: UUID, *, most: int, at: datetime
) -> list[Delivery]:
    """The deliveries as they were before, without those that another worker took."""
    due = Delivery.objects.filter(_build_due_filter(at), endpoint_id=endpoint.pk)
    chosen = list(due.order_by("due_at", "number")[:most])
    taken = due.filter(pk__in=[delivery.pk for delivery in chosen]).update(
        state=DeliveryState.LEASED,
        leased_by=token,
        attempts=F("attempts") + 1,
        due_at=at + LEASE_TIME,
    )
    if taken == len(chosen):
        return chosen
    ours = set(
        Delivery.objects.filter(
            leased_by=token, state=DeliveryState.LEASED
        ).values_list("pk", "attempts")
    )
    return [each for each in chosen if (each.pk, each.attempts + 1) in ours]


def release_leases(deliveries: Sequence[LeasedDelivery]) -> None:
    """Make these due at once: their outcome will not be known here."""
    Delivery.objects.filter(
        state=DeliveryState.LEASED,
        leased_by__in={delivery.lease for delivery in deliveries},
    ).update(due_at=timezone.now())
