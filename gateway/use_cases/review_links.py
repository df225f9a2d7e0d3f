"""How an answer points to a review."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ledger.serializers import build_review_url


def build_review_reference(
    review: Mapping[str, Any] | None, *, project_slug: str
) -> dict[str, Any] | None:
    """The review that an entry names, with the address of its page."""
    if review is None:
        return None
    url = build_review_url(project_slug=project_slug, review=review["id"])
    return {**review, "url": url}
