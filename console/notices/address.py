"""The whole address of a review or of the queue, for mail."""

from __future__ import annotations

from uuid import UUID

from django.conf import settings
from django.urls import reverse


def build_public_address(slug: str, code: UUID | None) -> str:
    queue, review = "console:queue", "console:review"
    path = reverse(review, args=[slug, code]) if code else reverse(queue, args=[slug])
    return f"{settings.PUBLIC_URL}{path}"
