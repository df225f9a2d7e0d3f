"""What managers do with webhooks: add, delete, rotate, disable, enable, test, resend."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as LookupTimeout
from datetime import timedelta

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from accounts.auth import PersonPrincipal
from accounts.secrets import hash_secret
from common.errors import Invalid
from common.ids import uuid7
from ledger.models import ProjectHead
from webhooks.delivery.fanout import publish_to_endpoint
from webhooks.delivery.results import disable_and_cancel
from webhooks.delivery.retry_schedule import MAX_ATTEMPTS
from webhooks.events import TEST_TYPE, TYPES, Event
from webhooks.models import Delivery, DeliveryState, EndpointStatus, WebhookEndpoint
from webhooks.signing import (
    ROTATION,
    create_salt,
    derive_secret,
    is_key_unchanged,
)
from webhooks.targets import Refused, Unresolved, check_addresses, parse_url, resolve

ENDPOINTS_LIMIT = 50
LOOKUP_TIMEOUT_S = 3.0
KEEP_FOR = timedelta(days=30)
DELETE_AT_ONCE = 5_000
RESENDABLE = (DeliveryState.DELIVERED, DeliveryState.DEAD, DeliveryState.CANCELLED)
DISABLED_BY_HAND = "Disabled by {}."

_lookups = ThreadPoolExecutor(4, thread_name_prefix="webhook-check")


def add_endpoint(
    *,
    person: PersonPrincipal,
    project_id: int,
    url: str,
    types: Sequence[str],
    description: str = "",
) -> tuple[WebhookEndpoint, str]:
    """Add an endpoint; returns it with its secret, which is never shown again."""
    _check_types(types)
    check_url(url)
    if WebhookEndpoint.objects.filter(project_id=project_id).count() >= ENDPOINTS_LIMIT:
        raise Invalid(f"A project has at most {ENDPOINTS_LIMIT} webhooks.")
    now = timezone.now()
    code, salt = uuid7(), create_salt()
    secret = derive_secret(code=str(code), salt=salt)
    endpoint = WebhookEndpoint.objects.create(
        code=code,
        project_id=project_id,
        url=url,
        description=description,
        types=[each for each in TYPES if each in types],
        status_at=now,
        salt=salt,
        secret_digest=hash_secret(secret),
        cursor=_get_position(project_id),
        created_by_id=person.user_id,
        created_at=now,
    )
    return endpoint, secret


def delete_endpoint(endpoint: WebhookEndpoint) -> None:
    """Delete an endpoint with all its deliveries, also those not sent yet."""
    endpoint.delete()


def rotate_secret(endpoint: WebhookEndpoint) -> str:
    """Return a new secret, shown once. The previous one also signs for a day."""
    salt = create_salt()
    secret = derive_secret(code=str(endpoint.code), salt=salt)
    # With another SECRET_KEY the previous secret cannot be derived any more.
    until = timezone.now() + ROTATION if is_key_unchanged(endpoint) else None
    WebhookEndpoint.objects.filter(pk=endpoint.pk).update(
        previous_salt=F("salt"),
        previous_until=until,
        salt=salt,
        secret_digest=hash_secret(secret),
    )
    return secret


def disable_endpoint(endpoint: WebhookEndpoint, *, person: PersonPrincipal) -> None:
    reason = DISABLED_BY_HAND.format(person.username)
    disable_and_cancel(endpoint.pk, reason=reason, at=timezone.now())


def enable_endpoint(endpoint: WebhookEndpoint) -> None:
    """Send it events from now on; what was cancelled can be resent."""
    check_url(endpoint.url)
    if not is_key_unchanged(endpoint):
        raise Invalid(
            "The server's SECRET_KEY has changed: rotate the secret of this webhook "
            "first and give it to the receiver."
        )
    WebhookEndpoint.objects.filter(
        pk=endpoint.pk, status=EndpointStatus.DISABLED
    ).update(
        status=EndpointStatus.ACTIVE,
        status_reason="",
        status_at=timezone.now(),
        cursor=_get_position(endpoint.project_id),
        quiet_until=None,
        failing_since=None,
    )


def send_test_event(endpoint: WebhookEndpoint, *, person: PersonPrincipal) -> Delivery:
    """Send an event of type `webhook.test`, like any other event."""
    _check_enabled(endpoint)
    event = Event(
        id=uuid7(),
        type=TEST_TYPE,
        at=timezone.now(),
        data={"webhook": str(endpoint.code), "by": person.username},
    )
    with transaction.atomic():
        # Also to a receiver that asked for a rest: a person waits for the result.
        WebhookEndpoint.objects.filter(pk=endpoint.pk).update(quiet_until=None)
        return publish_to_endpoint(endpoint.pk, event)


def resend_delivery(delivery: Delivery) -> None:
    """Queue an ended delivery again: the same id and bytes, ten more attempts."""
    _check_enabled(delivery.endpoint)
    ended = Delivery.objects.filter(pk=delivery.pk, state__in=RESENDABLE)
    if not _requeue(ended):
        raise Invalid("The delivery is still being sent: wait until it has ended.")


def resend_dead_deliveries(endpoint: WebhookEndpoint) -> int:
    """Queue every dead delivery again; returns how many."""
    _check_enabled(endpoint)
    return _requeue(
        Delivery.objects.filter(endpoint_id=endpoint.pk, state=DeliveryState.DEAD)
    )


def delete_old_deliveries() -> int:
    """Delete deliveries that ended a month ago; returns how many."""
    old = Delivery.objects.filter(ended_at__lt=timezone.now() - KEEP_FOR)
    chosen = list(old.values_list("pk", flat=True)[:DELETE_AT_ONCE])
    old.filter(pk__in=chosen).delete()
    return len(chosen)


def check_url(url: str) -> None:
    """Refuse a URL that every attempt would refuse.

    A host that cannot be resolved right now is accepted: it may be set up later.
    """
    try:
        target = parse_url(url)
        lookup = _lookups.submit(resolve, target.host, target.port)
        check_addresses(target, lookup.result(timeout=LOOKUP_TIMEOUT_S))
    except Refused as error:
        raise Invalid(
            str(error), errors=[{"loc": ["url"], "message": str(error)}]
        ) from None
    except (Unresolved, LookupTimeout):
        if target.scheme != "https":
            message = "The URL must begin with https://."
            raise Invalid(
                message, errors=[{"loc": ["url"], "message": message}]
            ) from None


def _check_types(types: Sequence[str]) -> None:
    unknown = [each for each in types if each not in TYPES]
    if unknown or not types:
        raise Invalid(
            f"Choose at least one of {', '.join(TYPES)}.",
            errors=[{"loc": ["types"], "message": f"one or more of {list(TYPES)}"}],
        )


def _check_enabled(endpoint: WebhookEndpoint) -> None:
    if endpoint.status != EndpointStatus.ACTIVE:
        raise Invalid(
            f"The webhook is disabled: enable it first. {endpoint.status_reason}"
        )


def _requeue(deliveries: QuerySet[Delivery]) -> int:
    return deliveries.update(
        state=DeliveryState.QUEUED,
        attempts_limit=F("attempts") + MAX_ATTEMPTS,
        due_at=timezone.now(),
        ended_at=None,
        leased_by=None,
    )


def _get_position(project_id: int) -> int:
    """The end of the project's ledger: events before it are not sent."""
    heads = ProjectHead.objects.filter(project_id=project_id)
    return heads.values_list("position", flat=True).first() or 0
