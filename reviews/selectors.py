"""Reads: reviews and runs as far as a person may see them."""

from __future__ import annotations

import json
from typing import Any, TypeVar
from uuid import UUID

from django.db.models import Model, QuerySet

from accounts.errors import NotFound
from accounts.identifiers import parse_code
from ledger import ready
from ledger.chain import timestamp
from ledger.models import Entry, Run
from reviews.models import Review

M = TypeVar("M", bound=Model)
REVIEW_RELATED = ("project", "run__agent", "assignee", "ruling__by", "call__grant")


def review_for(*, user_id: int, code: str) -> Review:
    """The review, for a member of its project; for anybody else it does not exist."""
    reviews = Review.objects.select_related(*REVIEW_RELATED)
    return _found(
        reviews.filter(code=_known(code), project__membership__user_id=user_id)
    )


_REVIEW = tuple(field.attname for field in Review._meta.concrete_fields)
_RUN = ("id", "code", "policy_id")
_FOR_COMMAND = f"""
SELECT {", ".join(f"review.{name}" for name in _REVIEW)},
       {", ".join(f"run.{name}" for name in _RUN)}
  FROM reviews_review review
  JOIN ledger_run run ON run.id = review.run_id
  JOIN accounts_membership member
    ON member.project_id = review.project_id AND member.user_id = %s
 WHERE review.code = %s
"""  # noqa: S608 (column names are constants)


def review_for_command(*, user_id: int, code: str) -> Review:
    """The same with no more than a command needs: an agent waits for what comes of it."""
    rows = ready.run(_FOR_COMMAND, [user_id, _known(code)])
    if not rows:
        raise NotFound
    review = ready.loaded(Review, _REVIEW, rows[0][: len(_REVIEW)])
    review.run = ready.loaded(Run, _RUN, rows[0][len(_REVIEW) :])
    return review


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
