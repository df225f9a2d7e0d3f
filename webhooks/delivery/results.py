"""Store the outcome of attempts: the state of each delivery and of its endpoint."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from webhooks.delivery.attempt import Outcome
from webhooks.delivery.retry_schedule import (
    OVERLOAD_REST_S,
    OVERLOADED,
    get_next_due,
    parse_retry_after,
)
from webhooks.models import (
    Delivery,
    DeliveryAttempt,
    DeliveryState,
    EndpointStatus,
    WebhookEndpoint,
)
from webhooks.payloads import build_excerpt, shorten

REPLY_KEPT = 500
ERROR_KEPT = 300
GONE = 410
GONE_REASON = "The receiver answered 410 Gone: it wants no more events."


def record_outcomes(outcomes: Sequence[Outcome]) -> None:
    """Store outcomes in one commit.

    Those whose lease was lost are dropped: another worker has the delivery by now.
    """
    if not outcomes:
        return
    with transaction.atomic():
        # Deliveries before endpoints, each in order of their keys: no deadlock.
        locked = {
            delivery.pk: delivery
            for delivery in Delivery.objects.defer("body")
            .select_for_update()
            .filter(pk__in=[each.delivery.delivery_id for each in outcomes])
            .order_by("pk")
        }
        leased = [
            outcome
            for outcome in outcomes
            if (delivery := locked.get(outcome.delivery.delivery_id)) is not None
            and delivery.leased_by == outcome.delivery.lease
            and delivery.state == DeliveryState.LEASED
        ]
        _store_states(leased, locked)
        DeliveryAttempt.objects.bulk_create(map(_build_attempt, leased))
        _update_endpoints(leased)


def _store_states(outcomes: Sequence[Outcome], deliveries: dict[int, Delivery]) -> None:
    now = timezone.now()
    delivered = [each.delivery.delivery_id for each in outcomes if each.ok]
    Delivery.objects.filter(pk__in=delivered).update(
        state=DeliveryState.DELIVERED, ended_at=now, leased_by=None
    )
    failed = [each for each in outcomes if not each.ok]
    active = set(
        WebhookEndpoint.objects.filter(
            pk__in={each.delivery.endpoint_id for each in failed},
            status=EndpointStatus.ACTIVE,
        ).values_list("pk", flat=True)
    )
    changed = [
        _apply_failure(
            deliveries[each.delivery.delivery_id],
            each,
            active=each.delivery.endpoint_id in active,
            now=now,
        )
        for each in failed
    ]
    Delivery.objects.bulk_update(changed, ["state", "due_at", "ended_at", "leased_by"])


def _apply_failure(
    delivery: Delivery, outcome: Outcome, *, active: bool, now: datetime
) -> Delivery:
    delivery.leased_by = None
    due = get_next_due(
        attempts=delivery.attempts,
        limit=delivery.attempts_limit,
        at=now,
        rest=_get_rest(outcome),
    )
    if outcome.status == GONE or due is None:
        delivery.state, delivery.ended_at = DeliveryState.DEAD, now
    elif not active:
        delivery.state, delivery.ended_at = DeliveryState.CANCELLED, now
    else:
        delivery.state, delivery.due_at = DeliveryState.RETRY_WAIT, due
    return delivery


def _get_rest(outcome: Outcome) -> float:
    if outcome.ok:
        return 0.0
    return parse_retry_after(retry_after=outcome.retry_after, at=outcome.at)


def _build_attempt(outcome: Outcome) -> DeliveryAttempt:
    return DeliveryAttempt(
        delivery_id=outcome.delivery.delivery_id,
        number=outcome.delivery.attempt,
        at=outcome.at,
        ok=outcome.ok,
        status=outcome.status,
        error=shorten(outcome.error, limit=ERROR_KEPT),
        duration_ms=outcome.duration_ms,
        reply=build_excerpt(outcome.reply, limit=REPLY_KEPT),
    )


def _update_endpoints(outcomes: Sequence[Outcome]) -> None:
    """Update the health of each endpoint, in order of their keys."""
    by_endpoint: dict[int, list[Outcome]] = {}
    for outcome in outcomes:
        by_endpoint.setdefault(outcome.delivery.endpoint_id, []).append(outcome)
    for endpoint_id, together in sorted(by_endpoint.items()):
        _update_endpoint(WebhookEndpoint.objects.filter(pk=endpoint_id), together)


def _update_endpoint(
    row: QuerySet[WebhookEndpoint], outcomes: Sequence[Outcome]
) -> None:
    now = timezone.now()
    if any(each.status == GONE for each in outcomes):
        disable_and_cancel(outcomes[0].delivery.endpoint_id, reason=GONE_REASON, at=now)
    rest = max(map(_get_rest, outcomes))
    if any(each.ok for each in outcomes):
        row.exclude(failing_since=None).update(failing_since=None)
    else:
        row.filter(failing_since=None).update(failing_since=outcomes[0].at)
        if any(each.status in OVERLOADED for each in outcomes):
            rest = max(rest, OVERLOAD_REST_S)
    if rest:
        row.update(quiet_until=now + timedelta(seconds=rest))


def disable_and_cancel(endpoint_id: int, *, reason: str, at: datetime) -> None:
    """Send an endpoint nothing more; what was queued is cancelled and can be resent."""
    with transaction.atomic():
        WebhookEndpoint.objects.filter(
            pk=endpoint_id, status=EndpointStatus.ACTIVE
        ).update(status=EndpointStatus.DISABLED, status_reason=reason, status_at=at)
        Delivery.objects.filter(
            endpoint_id=endpoint_id,
            state__in=[DeliveryState.QUEUED, DeliveryState.RETRY_WAIT],
        ).update(state=DeliveryState.CANCELLED, ended_at=at, leased_by=None)
