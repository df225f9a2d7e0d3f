"""Webhooks as tests make them: added, told of events, delivered, looked at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import httpx
from django.db import transaction
from django.utils import timezone

from accounts.models import Project
from common.ids import uuid7
from webhooks.delivery.fanout import publish
from webhooks.events import Event
from webhooks.models import Delivery, WebhookEndpoint

ALL = [
    "review.opened",
    "review.ruled",
    "review.expired",
    "run.paused",
    "run.stopped",
    "run.finished",
    "loop.event",
    "halt.started",
    "halt.released",
]


@dataclass(frozen=True, slots=True)
class Hook:
    code: str
    secret: str

    @property
    def row(self) -> WebhookEndpoint:
        return WebhookEndpoint.objects.get(code=self.code)

    @property
    def deliveries(self) -> list[Delivery]:
        found = Delivery.objects.filter(endpoint__code=self.code)
        return list(found.order_by("number").prefetch_related("tries"))

    @property
    def states(self) -> list[str]:
        return [delivery.state for delivery in self.deliveries]

    def make_due(self) -> None:
        """The wait for the next attempt is over."""
        Delivery.objects.filter(
            endpoint__code=self.code, state__in=["queued", "leased", "retry_wait"]
        ).update(due_at=timezone.now())
        WebhookEndpoint.objects.filter(code=self.code).update(quiet_until=None)


def add(manager: httpx.Client, url: str, types: list[str] | None = None) -> Hook:
    body = {"url": url, "types": types or ALL}
    made = manager.post("/webhooks", json=body)
    assert made.status_code == 201, made.text
    return Hook(made.json()["id"], made.json()["secret"])


def tell(project: Project, count: int = 1, **data: Any) -> None:
    """So many events that are no entries, as the loop publishes them."""
    with transaction.atomic():
        for number in range(1, count + 1):
            publish(
                project_id=project.pk,
                event=Event(
                    id=uuid7(),
                    type="loop.event",
                    at=timezone.now(),
                    data={"n": number, **data},
                ),
            )
