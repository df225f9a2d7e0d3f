"""What the API of webhooks takes and answers."""

from __future__ import annotations

from typing import Annotated, Any

from django.utils import timezone
from pydantic import BaseModel, Field, StringConstraints

from common.fields import Cursor, Id, Moment
from common.paging import PageQuery
from ledger.chain import format_timestamp
from reviews.schemas.fields import Body, Cleaned
from webhooks.events import TYPES, EventType
from webhooks.models import Delivery, DeliveryAttempt, DeliveryState, WebhookEndpoint
from webhooks.targets import URL_LIMIT

Url = Annotated[str, StringConstraints(min_length=1, max_length=URL_LIMIT)]
Description = Annotated[str, StringConstraints(max_length=200), Cleaned]


class WebhookIn(Body):
    """`project` is required if you manage several."""

    url: Url
    types: Annotated[list[EventType], Field(min_length=1, max_length=len(TYPES))]
    description: Description = ""
    project: Annotated[str, StringConstraints(max_length=64)] | None = None


class DeliveryFilters(PageQuery):
    state: DeliveryState | None = None


class WebhookOut(BaseModel):
    """A webhook: where it sends, which events, and its health."""

    id: Id
    project: str
    url: str
    description: str
    types: list[str]
    status: str
    status_reason: str
    failing_since: Moment | None
    previous_secret_until: Moment | None
    sequence: int
    created_by: str
    created_at: Moment


class WebhookWithSecret(WebhookOut):
    """A webhook with its secret, which is shown only here."""

    secret: str


class WebhookPage(BaseModel):
    """A page of webhooks, newest first."""

    items: list[WebhookOut]
    next_cursor: Cursor


class AttemptOut(BaseModel):
    """One attempt to send an event, and the receiver's answer."""

    number: int
    at: Moment
    ok: bool
    status: int | None
    error: str
    duration_ms: int
    reply: str


class DeliveryOut(BaseModel):
    """`sequence` counts the deliveries of a webhook."""

    id: Id
    webhook: Id
    webhook_id: str
    type: str
    sequence: int
    state: str
    next_attempt_at: Moment | None
    created_at: Moment
    ended_at: Moment | None
    attempts: list[AttemptOut]


class DeliveryPage(BaseModel):
    """A page of deliveries, newest first."""

    items: list[DeliveryOut]
    next_cursor: Cursor


def serialize_webhook(endpoint: WebhookEndpoint, **more: Any) -> dict[str, Any]:
    failing, until = endpoint.failing_since, endpoint.previous_until
    if until is not None and until <= timezone.now():
        until = None
    return {
        "id": str(endpoint.code),
        "project": endpoint.project.slug,
        "url": endpoint.url,
        "description": endpoint.description,
        "types": endpoint.types,
        "status": endpoint.status,
        "status_reason": endpoint.status_reason,
        "failing_since": format_timestamp(failing) if failing else None,
        "previous_secret_until": format_timestamp(until) if until else None,
        "sequence": endpoint.sequence,
        "created_by": endpoint.created_by.username,
        "created_at": format_timestamp(endpoint.created_at),
        **more,
    }


def serialize_delivery(delivery: Delivery, *, webhook: str) -> dict[str, Any]:
    waits = delivery.state in {DeliveryState.QUEUED, DeliveryState.RETRY_WAIT}
    tries = sorted(delivery.tries.all(), key=lambda each: each.number)
    return {
        "id": str(delivery.code),
        "webhook": webhook,
        "webhook_id": delivery.webhook_id,
        "type": delivery.type,
        "sequence": delivery.number,
        "state": delivery.state,
        "next_attempt_at": format_timestamp(delivery.due_at) if waits else None,
        "created_at": format_timestamp(delivery.created_at),
        "ended_at": format_timestamp(delivery.ended_at) if delivery.ended_at else None,
        "attempts": [_serialize_attempt(each) for each in tries],
    }


def _serialize_attempt(attempt: DeliveryAttempt) -> dict[str, Any]:
    return {
        "number": attempt.number,
        "at": format_timestamp(attempt.at),
        "ok": attempt.ok,
        "status": attempt.status,
        "error": attempt.error,
        "duration_ms": attempt.duration_ms,
        "reply": attempt.reply,
    }
