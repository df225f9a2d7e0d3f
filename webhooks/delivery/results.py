"""What becomes of a delivery after an attempt, and of an endpoint after its answers."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from webhooks.delivery.attempt import Outcome
from webhooks.delivery.retry_schedule import (
    OVERLOADED,
    SHORT_REST,
    next_due,
    rest_asked,
)
from webhooks.models import (
    Delivery,
    DeliveryAttempt,
    DeliveryState,
    EndpointStatus,
    WebhookEndpoint,
)
from webhooks.texts import excerpt, shortened

REPLY_KEPT = 500
ERROR_KEPT = 300
GONE = 410
GONE_REASON = "The receiver answered 410: it wants no more."


def record(outcomes: Sequence[Outcome]) -> None:
    """Write down how the attempts went, all in one commit.

    Only by who still holds the lease: what was taken over meanwhile belongs to another.
    """
    if not outcomes:
        return
    with transaction.atomic():
        # The rows first, as everybody does: taken in order, nobody waits in a circle.
        held = {
            delivery.pk: delivery
            for delivery in Delivery.objects.defer("body")
            .select_for_update()
            .filter(pk__in=[each.order.delivery_id for each in outcomes])
            .order_by("pk")
        }
        ours = [
            outcome
            for outcome in outcomes
            if (delivery := held.get(outcome.order.delivery_id)) is not None
            and delivery.leased_by == outcome.order.lease
            and delivery.state == DeliveryState.LEASED
        ]
        _settle(ours, held)
        DeliveryAttempt.objects.bulk_create(map(_attempt, ours))
        _tell_endpoints(ours)


def _settle(outcomes: Sequence[Outcome], held: dict[int, Delivery]) -> None:
    now = timezone.now()
    delivered = [each.order.delivery_id for each in outcomes if each.ok]
    Delivery.objects.filter(pk__in=delivered).update(
        state=DeliveryState.DELIVERED, ended_at=now, leased_by=None
    )
    failed = [each for each in outcomes if not each.ok]
    active = set(
        WebhookEndpoint.objects.filter(
            pk__in={each.order.endpoint_id for each in failed},
            status=EndpointStatus.ACTIVE,
        ).values_list("pk", flat=True)
    )
    changed = [
        _failed(
            held[each.order.delivery_id],
            each,
            active=each.order.endpoint_id in active,
            now=now,
        )
        for each in failed
    ]
    Delivery.objects.bulk_update(changed, ["state", "due_at", "ended_at", "leased_by"])


def _failed(
    delivery: Delivery, outcome: Outcome, *, active: bool, now: datetime
) -> Delivery:
    delivery.leased_by = None
    due = next_due(
        attempts=delivery.attempts,
        limit=delivery.attempts_limit,
        at=now,
        rest=_rest(outcome),
    )
    if outcome.status == GONE or due is None:
        delivery.state, delivery.ended_at = DeliveryState.DEAD, now
    elif not active:
        delivery.state, delivery.ended_at = DeliveryState.CANCELLED, now
    else:
        delivery.state, delivery.due_at = DeliveryState.RETRY_WAIT, due
    return delivery


def _rest(outcome: Outcome) -> float:
    if outcome.ok:
        return 0.0
    return rest_asked(retry_after=outcome.retry_after, at=outcome.at)


def _attempt(outcome: Outcome) -> DeliveryAttempt:
    return DeliveryAttempt(
        delivery_id=outcome.order.delivery_id,
        number=outcome.order.attempt,
        at=outcome.at,
        ok=outcome.ok,
        status=outcome.status,
        error=shortened(outcome.error, limit=ERROR_KEPT),
        duration_ms=outcome.duration_ms,
        reply=excerpt(outcome.reply, limit=REPLY_KEPT),
    )


def _tell_endpoints(outcomes: Sequence[Outcome]) -> None:
    """How each receiver is, by all that it answered; in order, so that nobody waits in a
    circle."""
    by_endpoint: dict[int, list[Outcome]] = {}
    for outcome in outcomes:
        by_endpoint.setdefault(outcome.order.endpoint_id, []).append(outcome)
    for endpoint_id, answers in sorted(by_endpoint.items()):
        _tell_endpoint(WebhookEndpoint.objects.filter(pk=endpoint_id), answers)


def _tell_endpoint(row: QuerySet[WebhookEndpoint], answers: Sequence[Outcome]) -> None:
    now = timezone.now()
    if any(each.status == GONE for each in answers):
        disable(answers[0].order.endpoint_id, reason=GONE_REASON, at=now)
    rest = max(map(_rest, answers))
    if any(each.ok for each in answers):
        row.exclude(failing_since=None).update(failing_since=None)
    else:
        row.filter(failing_since=None).update(failing_since=answers[0].at)
        if any(each.status in OVERLOADED for each in answers):
            rest = max(rest, SHORT_REST)
    if rest:
        row.update(quiet_until=now + timedelta(seconds=rest))


def disable(endpoint_id: int, *, reason: str, at: datetime) -> None:
    """Nothing more is sent to it: what waits is cancelled, and may be sent by hand."""
    with transaction.atomic():
        WebhookEndpoint.objects.filter(
            pk=endpoint_id, status=EndpointStatus.ACTIVE
        ).update(status=EndpointStatus.DISABLED, status_reason=reason, status_at=at)
        Delivery.objects.filter(
            endpoint_id=endpoint_id,
            state__in=[DeliveryState.QUEUED, DeliveryState.RETRY_WAIT],
        ).update(state=DeliveryState.CANCELLED, ended_at=at, leased_by=None)
