"""What came since a page last asked: for the browser's own notifications."""

from __future__ import annotations

from datetime import UTC, datetime

from django.db.models import F
from django.http import HttpResponse, JsonResponse
from django.urls import reverse
from django.views.decorators.http import require_GET

from console.access import ConsoleRequest
from console.format import to_milliseconds
from notifications.selectors import list_severities
from reviews.models import Review, ReviewState
from safetext import make_visible_line

# More are only counted.
LIMIT = 50


@require_GET
def newest(request: ConsoleRequest) -> HttpResponse:
    """Open reviews since `since` (milliseconds), as severe as the viewer wants to hear of
    and claimed by nobody."""
    text = request.GET.get("since", "")
    since = int(text) if text.isascii() and text.isdigit() and len(text) < 15 else 0
    found = list(
        Review.objects.filter(
            project=request.project,
            state=ReviewState.OPEN,
            assignee=None,
            severity__in=list_severities(request.preferences.desktop_from),
            opened_at__gte=datetime.fromtimestamp((since + 1) / 1000, tz=UTC),
        )
        .annotate(agent=F("run__agent__name"))
        .order_by("urgency", "pk")[:LIMIT]
    )
    items = [
        {
            "title": make_visible_line(review.title),
            "about": f"{review.severity}, {make_visible_line(review.agent)}",
            "url": reverse("console:review", args=[request.project.slug, review.code]),
            "at": to_milliseconds(review.opened_at),
        }
        for review in found
    ]
    return JsonResponse({"items": items})
