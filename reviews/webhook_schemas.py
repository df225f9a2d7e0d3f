"""What programs of managers send and get about webhooks."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from django.utils import timezone
from pydantic import BaseModel, Field, StringConstraints

from accounts.paging import PageQuery
from ledger.chain import timestamp
from reviews.models import Delivery, DeliveryAttempt, DeliveryState, WebhookEndpoint
from reviews.schemas import Body, Cleaned

EventType = Literal[
    "review.opened",
    "review.ruled",
    "review.expired",
    "run.paused",
    "run.stopped",
    "run.finished",
    "loop.event",
]


class WebhookIn(Body):
    """`project` is needed by those who manage several."""

    url: Annotated[str, StringConstraints(min_length=1, max_length=2_000)]
    types: Annotated[list[EventType], Field(min_length=1, max_length=7)]
    description: Annotated[str, StringConstraints(max_length=200), Cleaned] = ""
    project: Annotated[str, StringConstraints(max_length=64)] | None = None


class DeliveryFilters(PageQuery):
    state: DeliveryState | None = None


class WebhookOut(BaseModel):
    id: str
    project: str
    url: str
    description: str
    types: list[str]
    status: str
    status_reason: str
    failing_since: str | None
    previous_secret_until: str | None
    sequence: int
    created_by: str
    created_at: str


class WebhookWithSecret(WebhookOut):
    """The secret is shown this once."""

    secret: str


class WebhookPage(BaseModel):
    items: list[WebhookOut]
    next_cursor: str | None


class AttemptOut(BaseModel):
    number: int
    at: str
    ok: bool
    status: int | None
    error: str
    duration_ms: int
    reply: str


class DeliveryOut(BaseModel):
    """`sequence` is its place among all that the webhook was told."""

    id: str
    webhook: str
    webhook_id: str
    type: str
    sequence: int
    state: str
    next_attempt_at: str | None
    created_at: str
    ended_at: str | None
    attempts: list[AttemptOut]


class DeliveryPage(BaseModel):
    items: list[DeliveryOut]
    next_cursor: str | None


def webhook_answer(endpoint: WebhookEndpoint, **more: Any) -> dict[str, Any]:
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
        "failing_since": timestamp(failing) if failing else None,
        "previous_secret_until": timestamp(until) if until else None,
        "sequence": endpoint.sequence,
        "created_by": endpoint.created_by.username,
        "created_at": timestamp(endpoint.created_at),
        **more,
    }


def delivery_answer(delivery: Delivery, *, webhook: str) -> dict[str, Any]:
    waits = delivery.state in {DeliveryState.QUEUED, DeliveryState.RETRY_WAIT}
    tries = sorted(delivery.tries.all(), key=lambda each: each.number)
    return {
        "id": str(delivery.code),
        "webhook": webhook,
        "webhook_id": delivery.webhook_id,
        "type": delivery.type,
        "sequence": delivery.number,
        "state": delivery.state,
        "next_attempt_at": timestamp(delivery.due_at) if waits else None,
        "created_at": timestamp(delivery.created_at),
        "ended_at": timestamp(delivery.ended_at) if delivery.ended_at else None,
        "attempts": [_attempt(each) for each in tries],
    }


def _attempt(attempt: DeliveryAttempt) -> dict[str, Any]:
    return {
        "number": attempt.number,
        "at": timestamp(attempt.at),
        "ok": attempt.ok,
        "status": attempt.status,
        "error": attempt.error,
        "duration_ms": attempt.duration_ms,
        "reply": attempt.reply,
    }
