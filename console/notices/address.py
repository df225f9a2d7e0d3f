"""The whole address of a review, for mail."""

from __future__ import annotations

from uuid import UUID

from django.conf import settings
from django.urls import reverse


def build_public_address(slug: str, code: UUID) -> str:
    return f"{settings.PUBLIC_URL}{reverse('console:review', args=[slug, code])}"
