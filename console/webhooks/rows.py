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
from django.utils.html import format_html
from django.utils.safestring import SafeString

from console.format import (
    ShownMoment,
    build_future_moment,
    build_past_moment,
    format_compact,
    format_count,
    format_elapsed,
    format_iso,
    format_seconds,
    render_time,
)
from console.people import Person, build_person
from safetext import make_visible, make_visible_line
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
    "waiting": ("Pending", PENDING_STATES),
    "delivered": ("Delivered", (DeliveryState.DELIVERED,)),
    "dead": ("Dead letters", (DeliveryState.DEAD,)),
    "cancelled": ("Cancelled", (DeliveryState.CANCELLED,)),
}
_STATES = {
    DeliveryState.QUEUED: ("Queued", "clock", ""),
    DeliveryState.LEASED: ("Sending", "play", ""),
    DeliveryState.RETRY_WAIT: ("Will retry", "retry", "pause"),
    DeliveryState.DELIVERED: ("Delivered", "check", "go"),
    DeliveryState.DEAD: ("Dead letter", "stop", "stop"),
    DeliveryState.CANCELLED: ("Cancelled", "x", ""),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """In a word, with its colour; `lasting` says for how long something is wrong."""

    word: str
    icon: str
    tone: str
    lasting: str = ""


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
    sent: int
    waiting: int
    dead: int
    created_by: Person
    created: ShownMoment
    old_secret: SafeString
    quiet: SafeString

    @property
    def events(self) -> str:
        return "1 event" if self.sent == 1 else f"{format_compact(self.sent)} events"

    @property
    def pending(self) -> str:
        return f"{self.waiting:,} pending" if self.waiting else ""

    @property
    def dead_letters(self) -> str:
        return format_count(self.dead, "dead letter") if self.dead else ""

    @property
    def resend(self) -> str:
        if self.dead == 1:
            return "Resend the dead letter"
        return f"Resend all {self.dead_letters}" if self.dead else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptRow:
    number: int
    when: ShownMoment
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
    how: SafeString
    when: ShownMoment
    attempts: Sequence[AttemptRow]
    body: str
    can_resend: bool


def list_webhooks(*, project_id: int) -> QuerySet[WebhookEndpoint]:
    """The newest first."""
    return (
        WebhookEndpoint.objects.filter(project_id=project_id)
        .select_related("created_by")
        .order_by("-pk")
    )


def build_webhook_rows(
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
        _build_webhook(each, waiting=waiting[each.pk], dead=dead[each.pk], at=at)
        for each in endpoints
    ]


def _build_webhook(
    endpoint: WebhookEndpoint, *, waiting: int, dead: int, at: datetime
) -> WebhookRow:
    parts = urlsplit(endpoint.url)
    query = f"?{parts.query}" if parts.query else ""
    return WebhookRow(
        code=str(endpoint.code),
        host=make_visible_line(parts.netloc),
        path=make_visible_line(parts.path + query, limit=120),
        url=make_visible_line(endpoint.url, limit=2_000),
        description=make_visible_line(endpoint.description),
        types=endpoint.types,
        active=endpoint.status == EndpointStatus.ACTIVE,
        health=_build_health(endpoint, at=at),
        reason=make_visible_line(endpoint.status_reason),
        sent=endpoint.sequence,
        waiting=waiting,
        dead=dead,
        created_by=build_person(endpoint.created_by),
        created=build_past_moment(endpoint.created_at, at),
        old_secret=_render_left(
            "Rotated; the old secret also signs for another {}.",
            build_future_moment(endpoint.previous_until, at),
        ),
        quiet=_render_left(
            "The receiver asked us to wait. The next message is sent in {}.",
            build_future_moment(endpoint.quiet_until, at),
        ),
    )


def _render_left(sentence: str, moment: ShownMoment | None) -> SafeString:
    """The sentence with the time left; empty where no time is left."""
    if moment is None:
        return SafeString("")
    return format_html(sentence, render_time(moment, "left"))


def _build_health(endpoint: WebhookEndpoint, *, at: datetime) -> Health:
    if endpoint.status != EndpointStatus.ACTIVE:
        lasting = _render_lasting(endpoint.status_at, at)
        return Health(word="Disabled", icon="stop", tone="stop", lasting=lasting)
    if endpoint.failing_since is not None:
        lasting = _render_lasting(endpoint.failing_since, at)
        return Health(word="Failing", icon="alert", tone="pause", lasting=lasting)
    if not endpoint.sequence:
        return Health(word="Nothing sent yet", icon="clock", tone="")
    return Health(word="Healthy", icon="check", tone="go")


def build_delivery_rows(
    deliveries: Iterable[Delivery], *, active: bool, at: datetime
) -> list[DeliveryRow]:
    return [_build_delivery(delivery, active=active, at=at) for delivery in deliveries]


def is_busy(deliveries: Iterable[Delivery], *, at: datetime) -> bool:
    return any(
        delivery.state in PENDING_STATES and delivery.due_at < at + SOON
        for delivery in deliveries
    )


def _build_delivery(delivery: Delivery, *, active: bool, at: datetime) -> DeliveryRow:
    word, icon, tone = _STATES[DeliveryState(delivery.state)]
    tries = sorted(delivery.tries.all(), key=lambda each: -each.number)
    attempts = [_build_attempt(each, at=at) for each in tries]
    waits = delivery.state == DeliveryState.RETRY_WAIT
    return DeliveryRow(
        code=str(delivery.code),
        webhook_id=delivery.webhook_id,
        type=delivery.type,
        number=delivery.number,
        word=word,
        icon=icon,
        tone=tone,
        how=_describe_last(
            attempts, again=build_future_moment(delivery.due_at, at) if waits else None
        ),
        when=build_past_moment(delivery.created_at, at),
        attempts=attempts,
        body=make_visible(delivery.body),
        can_resend=active and delivery.state not in PENDING_STATES,
    )


def _describe_last(
    attempts: Sequence[AttemptRow], *, again: ShownMoment | None
) -> SafeString:
    """What came of the newest attempt, and when the next one is made."""
    if not attempts:
        return SafeString("")
    last = attempts[0]
    if last.ok:
        return format_html("{} in {}", last.what, last.took)
    if again is None:
        return format_html("{}", last.what)
    return format_html("{}; again in {}", last.what, render_time(again, "left"))


def _build_attempt(attempt: DeliveryAttempt, *, at: datetime) -> AttemptRow:
    said = attempt.error or f"answered {attempt.status}"
    # The name of a host stays as it is spelt.
    begins_with_host = "." in said.split(" ", 1)[0]
    return AttemptRow(
        number=attempt.number,
        when=build_past_moment(attempt.at, at),
        ok=attempt.ok,
        what=said if begins_with_host else said[:1].upper() + said[1:],
        took=format_elapsed(attempt.duration_ms),
        reply=attempt.reply,
    )


def _render_lasting(since: datetime, at: datetime) -> SafeString:
    lasting = ShownMoment(
        at=format_iso(since), words=format_seconds((at - since).total_seconds())
    )
    return format_html(" for {}", render_time(lasting, "words"))
