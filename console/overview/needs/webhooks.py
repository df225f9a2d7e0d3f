"""Webhooks whose receivers do not take what they are sent, for managers."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from urllib.parse import urlsplit

from django.db.models import Q

from console.format import format_count, format_seconds
from console.overview.links import Links
from console.overview.needs.need import Need, name_some
from webhooks.models import EndpointStatus, WebhookEndpoint
from webhooks.services import DISABLED_BY_HAND

_BY_HAND = DISABLED_BY_HAND.partition("{")[0]


def find_broken_webhooks(
    *, project_id: int, at: datetime, links: Links
) -> Iterator[Need]:
    """Not those that a person has switched off."""
    rows = (
        WebhookEndpoint.objects.filter(project_id=project_id)
        .filter(
            Q(status=EndpointStatus.ACTIVE, failing_since__isnull=False)
            | Q(status=EndpointStatus.DISABLED) & ~Q(status_reason__startswith=_BY_HAND)
        )
        .order_by("failing_since", "pk")
        .values_list("url", "failing_since", "status_at", "status")
    )
    found = list(rows)
    if not found or not links.manages:
        return
    _, failing_since, status_at, status = found[0]
    disabled = status == EndpointStatus.DISABLED
    lasting = format_seconds((at - (failing_since or status_at)).total_seconds())
    hosts = [urlsplit(each[0]).netloc for each in found]
    yield Need(
        tone="stop",
        icon="send",
        title=(
            f"{format_count(len(found), 'webhook')} failing"
            if len(found) > 1
            else "Webhook disabled"
            if disabled
            else "Webhook failing"
        ),
        about=f"{name_some(hosts)}, for {lasting}",
        href=links.open_webhooks(),
        harm=5,
    )
