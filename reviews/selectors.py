"""Reads: reviews and runs as far as a person may see them."""

from __future__ import annotations

import json
from typing import Any

from accounts.errors import NotFound
from accounts.identifiers import parse_code
from ledger.chain import timestamp
from ledger.models import Entry, Run
from reviews.models import Review

REVIEW_RELATED = ("project", "run__agent", "assignee", "ruling__by")


def review_for(*, user_id: int, code: str) -> Review:
    """The review, for a member of its project; for anybody else it does not exist."""
    known = parse_code(code)
    review = (
        Review.objects.select_related(*REVIEW_RELATED)
        .filter(code=known, project__membership__user_id=user_id)
        .first()
        if known
        else None
    )
    if review is None:
        raise NotFound
    return review


def run_for(*, user_id: int, code: str) -> Run:
    known = parse_code(code)
    run = (
        Run.objects.select_related("project", "agent", "policy")
        .filter(code=known, project__membership__user_id=user_id)
        .first()
        if known
        else None
    )
    if run is None:
        raise NotFound
    return run


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
