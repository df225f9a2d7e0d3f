"""Reads: reviews and runs as far as a person may see them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, TypeVar
from uuid import UUID

from django.db.models import Model, QuerySet

from accounts.errors import NotFound
from accounts.identifiers import parse_code
from ledger.chain import timestamp
from ledger.models import Entry, Run
from reviews.models import Review

M = TypeVar("M", bound=Model)
REVIEW_RELATED = ("project", "run__agent", "assignee", "ruling__by", "call__grant")


def review_for(
    *, user_id: int, code: str, related: Sequence[str] = REVIEW_RELATED
) -> Review:
    """The review, for a member of its project; for anybody else it does not exist."""
    reviews = Review.objects.select_related(*related)
    return _found(
        reviews.filter(code=_known(code), project__membership__user_id=user_id)
    )


def run_for(*, user_id: int, code: str) -> Run:
    runs = Run.objects.select_related("project", "agent", "policy")
    return _found(runs.filter(code=_known(code), project__membership__user_id=user_id))


def _known(code: str) -> UUID:
    known = parse_code(code)
    if known is None:
        raise NotFound
    return known


def _found(rows: QuerySet[M]) -> M:
    """The one row. first() would sort it, which PostgreSQL plans for milliseconds."""
    for row in rows:
        return row
    raise NotFound


def review_history(review: Review) -> list[dict[str, Any]]:
    """What happened to the review, from the ledger, oldest first."""
    entries = Entry.objects.filter(
        run_id=review.run_id, type__startswith="review."
    ).order_by("seq")
    history = []
    for entry in entries:
        payload = json.loads(entry.payload)
        if payload["review"] == str(review.code):
            history.append(
                {
                    "seq": entry.seq,
                    "at": timestamp(entry.at),
                    "type": entry.type,
                    "actor": entry.actor,
                    "text": payload.get("text") or payload.get("note"),
                }
            )
    return history
