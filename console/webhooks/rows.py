"""Webhooks as the console shows them: each with its health, and what it was sent.

Values are made ready here, as for every page; the templates only place them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlsplit

from django.db.models import Count, QuerySet

from console.format import Moment, ahead, compact, iso, past, took, words
from console.people import Person, build_person
from safetext import visible, visible_line
from webhooks.models import (
    PENDING_STATES,
    Delivery,
    DeliveryAttempt,
    DeliveryState,
    EndpointStatus,
    WebhookEndpoint,
)

PAGE = 50
# A page that shows something due so soon fetches itself again until it is done.
SOON = timedelta(seconds=20)
# Filters of the deliveries: what they are called, and the states they take in.
SHOWS: dict[str, tuple[str, tuple[str, ...]]] = {
    "waiting": ("On their way", PENDING_STATES),
    "delivered": ("Delivered", (DeliveryState.DELIVERED,)),
    "dead": ("Dead letters", (DeliveryState.DEAD,)),
    "cancelled": ("Cancelled", (DeliveryState.CANCELLED,)),
}
_STATES = {
    DeliveryState.QUEUED: ("On its way", "clock", ""),
    DeliveryState.LEASED: ("Being sent", "play", ""),
    DeliveryState.RETRY_WAIT: ("Will retry", "retry", "pause"),
    DeliveryState.DELIVERED: ("Delivered", "check", "go"),
    DeliveryState.DEAD: ("Dead letter", "stop", "stop"),
    DeliveryState.CANCELLED: ("Cancelled", "x", ""),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """In a word, with its colour; where it is not well, for how long it is not."""

    word: str
    icon: str
    tone: str
    lasting: Moment | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookRow:
    code: str
    host: str
    path: str
    url: str
    description: str
    types: Sequence[str]
    active: bool
    health: Health
    reason: str
    waiting: int
    dead: int
    sent: str
    created_by: Person
    created: Moment
    old_secret: Moment | None
    quiet: Moment | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptRow:
    number: int
    when: Moment
    ok: bool
    what: str
    took: str
    reply: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryRow:
    code: str
    webhook_id: str
    type: str
    number: int
    word: str
    icon: str
    tone: str
    when: Moment
    next: Moment | None
    attempts: Sequence[AttemptRow]
    body: str
    can_resend: bool

    @property
    def last(self) -> AttemptRow | None:
        return self.attempts[0] if self.attempts else None


def webhooks_of(*, project_id: int) -> QuerySet[WebhookEndpoint]:
    """The newest first."""
    return (
        WebhookEndpoint.objects.filter(project_id=project_id)
        .select_related("created_by")
        .order_by("-pk")
    )


def webhook_rows(
    endpoints: Sequence[WebhookEndpoint], *, at: datetime
) -> list[WebhookRow]:
    counted = (
        Delivery.objects.filter(
            endpoint__in=endpoints, state__in=[*PENDING_STATES, DeliveryState.DEAD]
        )
        .values_list("endpoint_id", "state")
        .annotate(count=Count("pk"))
    )
    waiting: Counter[int] = Counter()
    dead: Counter[int] = Counter()
    for endpoint_id, state, count in counted:
        tally = dead if state == DeliveryState.DEAD else waiting
        tally[endpoint_id] += count
    return [
        _webhook(each, waiting=waiting[each.pk], dead=dead[each.pk], at=at)
        for each in endpoints
    ]


def _webhook(
    endpoint: WebhookEndpoint, *, waiting: int, dead: int, at: datetime
) -> WebhookRow:
    parts = urlsplit(endpoint.url)
    query = f"?{parts.query}" if parts.query else ""
    return WebhookRow(
        code=str(endpoint.code),
        host=visible_line(parts.netloc),
        path=visible_line(parts.path + query, limit=120),
        url=visible_line(endpoint.url, limit=2_000),
        description=visible_line(endpoint.description),
        types=endpoint.types,
        active=endpoint.status == EndpointStatus.ACTIVE,
        health=_health(endpoint, at=at),
        reason=visible_line(endpoint.status_reason),
        waiting=waiting,
        dead=dead,
        sent=compact(endpoint.sequence),
        created_by=build_person(endpoint.created_by),
        created=past(endpoint.created_at, at),
        old_secret=ahead(endpoint.previous_until, at),
        quiet=ahead(endpoint.quiet_until, at),
    )


def _health(endpoint: WebhookEndpoint, *, at: datetime) -> Health:
    if endpoint.status != EndpointStatus.ACTIVE:
        lasting = _lasting(endpoint.status_at, at)
        return Health(word="Disabled", icon="stop", tone="stop", lasting=lasting)
    if endpoint.failing_since is not None:
        lasting = _lasting(endpoint.failing_since, at)
        return Health(word="Failing", icon="alert", tone="pause", lasting=lasting)
    if not endpoint.sequence:
        return Health(word="Nothing sent yet", icon="clock", tone="")
    return Health(word="Healthy", icon="check", tone="go")


def delivery_rows(
    deliveries: Iterable[Delivery], *, active: bool, at: datetime
) -> list[DeliveryRow]:
    return [_delivery(delivery, active=active, at=at) for delivery in deliveries]


def busy(deliveries: Iterable[Delivery], *, at: datetime) -> bool:
    return any(
        delivery.state in PENDING_STATES and delivery.due_at < at + SOON
        for delivery in deliveries
    )


def _delivery(delivery: Delivery, *, active: bool, at: datetime) -> DeliveryRow:
    word, icon, tone = _STATES[DeliveryState(delivery.state)]
    tries = sorted(delivery.tries.all(), key=lambda each: -each.number)
    waits = delivery.state == DeliveryState.RETRY_WAIT
    return DeliveryRow(
        code=str(delivery.code),
        webhook_id=delivery.webhook_id,
        type=delivery.type,
        number=delivery.number,
        word=word,
        icon=icon,
        tone=tone,
        when=past(delivery.created_at, at),
        next=ahead(delivery.due_at, at) if waits else None,
        attempts=[_attempt(each, at=at) for each in tries],
        body=visible(delivery.body),
        can_resend=active and delivery.state not in PENDING_STATES,
    )


def _attempt(attempt: DeliveryAttempt, *, at: datetime) -> AttemptRow:
    said = attempt.error or f"answered {attempt.status}"
    return AttemptRow(
        number=attempt.number,
        when=past(attempt.at, at),
        ok=attempt.ok,
        what=said[:1].upper() + said[1:],
        took=took(attempt.duration_ms),
        reply=attempt.reply,
    )


def _lasting(since: datetime, at: datetime) -> Moment:
    return Moment(at=iso(since), words=words((at - since).total_seconds()))
