"""What managers do with webhooks: add, delete, rotate, disable, enable, test, resend."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as TooLate
from datetime import timedelta

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from accounts.auth import PersonPrincipal
from accounts.secrets import digest
from common.errors import Invalid
from common.ids import uuid7
from ledger.models import ProjectHead
from webhooks.delivery.fanout import publish_to
from webhooks.delivery.results import disable
from webhooks.delivery.retry_schedule import ATTEMPTS
from webhooks.events import TEST_TYPE, TYPES, Event
from webhooks.models import Delivery, DeliveryState, EndpointStatus, WebhookEndpoint
from webhooks.signing import (
    ROTATION,
    key_is_the_same,
    new_salt,
    secret_from,
)
from webhooks.targets import Refused, Unresolved, judged, read_url, resolve

ENDPOINTS_LIMIT = 50
LOOKUP_S = 3.0
KEPT = timedelta(days=30)
FORGET_AT_ONCE = 5_000
RESENDABLE = (DeliveryState.DELIVERED, DeliveryState.DEAD, DeliveryState.CANCELLED)
DISABLED_BY_HAND = "Disabled by {}."

_lookups = ThreadPoolExecutor(4, thread_name_prefix="webhook-check")


def endpoint_add(
    *,
    person: PersonPrincipal,
    project_id: int,
    url: str,
    types: Sequence[str],
    description: str = "",
) -> tuple[WebhookEndpoint, str]:
    """The endpoint and its secret, which is told here and never again."""
    _refuse_types(types)
    refuse_url(url)
    if WebhookEndpoint.objects.filter(project_id=project_id).count() >= ENDPOINTS_LIMIT:
        raise Invalid(f"A project has at most {ENDPOINTS_LIMIT} webhooks.")
    now = timezone.now()
    code, salt = uuid7(), new_salt()
    secret = secret_from(code=str(code), salt=salt)
    endpoint = WebhookEndpoint.objects.create(
        code=code,
        project_id=project_id,
        url=url,
        description=description,
        types=[each for each in TYPES if each in types],
        status_at=now,
        salt=salt,
        secret_digest=digest(secret),
        cursor=_position(project_id),
        created_by_id=person.user_id,
        created_at=now,
    )
    return endpoint, secret


def endpoint_delete(endpoint: WebhookEndpoint) -> None:
    """With everything that was on its way to it."""
    endpoint.delete()


def endpoint_rotate(endpoint: WebhookEndpoint) -> str:
    """A new secret, told once. Both sign for a day, so that nothing is lost meanwhile."""
    salt = new_salt()
    secret = secret_from(code=str(endpoint.code), salt=salt)
    # A secret that cannot be made any more does not sign beside the new one.
    until = timezone.now() + ROTATION if key_is_the_same(endpoint) else None
    WebhookEndpoint.objects.filter(pk=endpoint.pk).update(
        previous_salt=F("salt"),
        previous_until=until,
        salt=salt,
        secret_digest=digest(secret),
    )
    return secret


def endpoint_disable(endpoint: WebhookEndpoint, *, person: PersonPrincipal) -> None:
    reason = DISABLED_BY_HAND.format(person.username)
    disable(endpoint.pk, reason=reason, at=timezone.now())


def endpoint_enable(endpoint: WebhookEndpoint) -> None:
    """It hears of what happens from now on; what it missed can be sent by hand."""
    refuse_url(endpoint.url)
    if not key_is_the_same(endpoint):
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
        cursor=_position(endpoint.project_id),
        quiet_until=None,
        failing_since=None,
    )


def endpoint_test(endpoint: WebhookEndpoint, *, person: PersonPrincipal) -> Delivery:
    """An event of its own, sent like any other; how it went is seen at the delivery."""
    _refuse_disabled(endpoint)
    event = Event(
        id=uuid7(),
        type=TEST_TYPE,
        at=timezone.now(),
        data={"webhook": str(endpoint.code), "by": person.username},
    )
    with transaction.atomic():
        # A receiver that rests is asked all the same: somebody is looking.
        WebhookEndpoint.objects.filter(pk=endpoint.pk).update(quiet_until=None)
        return publish_to(endpoint.pk, event)


def delivery_resend(delivery: Delivery) -> None:
    """Once more from the start: the same id and bytes, ten attempts."""
    _refuse_disabled(delivery.endpoint)
    again = Delivery.objects.filter(pk=delivery.pk, state__in=RESENDABLE)
    if not _queue(again):
        raise Invalid("The delivery is on its way: wait until it has ended.")


def dead_resend(endpoint: WebhookEndpoint) -> int:
    """All that were given up; returns how many."""
    _refuse_disabled(endpoint)
    return _queue(
        Delivery.objects.filter(endpoint_id=endpoint.pk, state=DeliveryState.DEAD)
    )


def delete_old_deliveries() -> int:
    """What ended a month ago is of no use to anybody."""
    old = Delivery.objects.filter(ended_at__lt=timezone.now() - KEPT)
    chosen = list(old.values_list("pk", flat=True)[:FORGET_AT_ONCE])
    old.filter(pk__in=chosen).delete()
    return len(chosen)


def refuse_url(url: str) -> None:
    """A URL that would be refused at every attempt is refused now.

    A name that nobody knows just now is taken: the attempts will tell.
    """
    try:
        target = read_url(url)
        looking = _lookups.submit(resolve, target.host, target.port)
        judged(target, looking.result(timeout=LOOKUP_S))
    except Refused as error:
        raise Invalid(
            str(error), errors=[{"loc": ["url"], "message": str(error)}]
        ) from None
    except (Unresolved, TooLate):
        if target.scheme != "https":
            message = "The URL must begin with https://."
            raise Invalid(
                message, errors=[{"loc": ["url"], "message": message}]
            ) from None


def _refuse_types(types: Sequence[str]) -> None:
    unknown = [each for each in types if each not in TYPES]
    if unknown or not types:
        raise Invalid(
            f"Choose at least one of {', '.join(TYPES)}.",
            errors=[{"loc": ["types"], "message": f"one or more of {list(TYPES)}"}],
        )


def _refuse_disabled(endpoint: WebhookEndpoint) -> None:
    if endpoint.status != EndpointStatus.ACTIVE:
        raise Invalid(
            f"The webhook is disabled: enable it first. {endpoint.status_reason}"
        )


def _queue(deliveries: QuerySet[Delivery]) -> int:
    return deliveries.update(
        state=DeliveryState.QUEUED,
        attempts_limit=F("attempts") + ATTEMPTS,
        due_at=timezone.now(),
        ended_at=None,
        leased_by=None,
    )


def _position(project_id: int) -> int:
    """Where the project's ledger stands; nothing before it is told."""
    heads = ProjectHead.objects.filter(project_id=project_id)
    return heads.values_list("position", flat=True).first() or 0
