"""Who sends what: deliveries are taken by compare-and-set, never twice at a time.

A lease ends by itself. Whoever was killed between sending and saying so leaves a
delivery that is sent again, with the same id and the same bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Protocol
from uuid import UUID, uuid4

from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone

from webhooks.delivery.attempt import Order
from webhooks.delivery.results import disable
from webhooks.models import (
    ON_ITS_WAY,
    Delivery,
    DeliveryState,
    EndpointStatus,
    WebhookEndpoint,
)
from webhooks.signing import key_is_the_same, valid_secrets

# Longer than the wait for a place, the attempt and the writing down of it ever take.
LEASE = timedelta(seconds=90)
OTHER_KEY = (
    "The server's SECRET_KEY is another one than when this secret was made. "
    "Rotate the secret, give it to the receiver and enable the webhook."
)


def _takeable(at: datetime) -> Q:
    return Q(state__in=ON_ITS_WAY, due_at__lte=at)


def _waited_for(at: datetime) -> QuerySet[WebhookEndpoint]:
    """Endpoints that something is due for, those that are well before the others."""
    return WebhookEndpoint.objects.filter(
        Q(quiet_until=None) | Q(quiet_until__lte=at),
        Exists(Delivery.objects.filter(_takeable(at), endpoint=OuterRef("pk"))),
        status=EndpointStatus.ACTIVE,
    ).order_by(F("failing_since").asc(nulls_first=True), "pk")


def something_due() -> bool:
    return _waited_for(timezone.now()).exists()


class Room(Protocol):
    """How much more may be under way, in all and for one endpoint."""

    @property
    def free(self) -> int: ...

    def room(self, endpoint_id: int, *, failing: bool) -> int: ...


def lease(places: Room) -> list[Order]:
    """Take what is due, for each endpoint as much as there is room for."""
    at = timezone.now()
    orders: list[Order] = []
    for endpoint in _waited_for(at):
        failing = endpoint.failing_since is not None
        room = places.room(endpoint.pk, failing=failing)
        most = min(room, places.free - len(orders))
        if most > 0:
            orders += _lease(endpoint, most=most, at=at)
    return orders


def _lease(endpoint: WebhookEndpoint, *, most: int, at: datetime) -> list[Order]:
    if not key_is_the_same(endpoint):
        disable(endpoint.pk, reason=OTHER_KEY, at=at)
        return []
    token = uuid4()
    secrets = valid_secrets(endpoint, at=at)
    return [
        Order(
            delivery_id=delivery.pk,
            endpoint_id=endpoint.pk,
            lease=token,
            attempt=delivery.attempts + 1,
            url=endpoint.url,
            webhook_id=delivery.webhook_id,
            body=delivery.body,
            secrets=secrets,
        )
        for delivery in _taken(endpoint, token, most=most, at=at)
    ]


def _taken(
    endpoint: WebhookEndpoint, token: UUID, *, most: int, at: datetime
) -> list[Delivery]:
    """As they were before; where somebody else was faster, they are not among them."""
    due = Delivery.objects.filter(_takeable(at), endpoint_id=endpoint.pk)
    chosen = list(due.order_by("due_at", "number")[:most])
    taken = due.filter(pk__in=[delivery.pk for delivery in chosen]).update(
        state=DeliveryState.LEASED,
        leased_by=token,
        attempts=F("attempts") + 1,
        due_at=at + LEASE,
    )
    if taken == len(chosen):
        return chosen
    ours = set(
        Delivery.objects.filter(
            leased_by=token, state=DeliveryState.LEASED
        ).values_list("pk", "attempts")
    )
    return [each for each in chosen if (each.pk, each.attempts + 1) in ours]


def give_back(orders: Sequence[Order]) -> None:
    """Nobody here will say how these went: the next one may send them at once."""
    Delivery.objects.filter(
        state=DeliveryState.LEASED, leased_by__in={order.lease for order in orders}
    ).update(due_at=timezone.now())
