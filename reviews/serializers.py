"""How a review looks on the wire."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils import timezone

from ledger.chain import format_timestamp
from ledger.serializers import build_review_url
from ledger.writer.sql import parse_time, parse_uuid
from reviews.models import Grant, Review, Ruling
from reviews.queue.agent_waits import get_waiting


def build_review_answer(
    review: Review,
    *,
    rulings: Sequence[str] = (),
    ruling: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """`rulings` are those the caller may choose now, `ruling` the one if it was read."""
    code = str(review.code)
    waiting = get_waiting(review, timezone.now())
    return {
        "id": code,
        "run": str(review.run.code),
        "project": review.project.slug,
        "agent": review.run.agent.name,
        "kind": review.kind,
        "state": review.state,
        "severity": review.severity,
        "reversibility": review.reversibility,
        "title": review.title,
        "step": review.step_number,
        "content": json.loads(review.content),
        "content_digest": review.content_digest,
        "version": review.version,
        "approvals": build_approvals(review),
        "rulings": list(rulings),
        "assignee": review.assignee.username if review.assignee else None,
        "claimed_until": _format_moment(review.claimed_until),
        "snoozed_until": _format_moment(review.snoozed_until),
        "snoozed_for": review.snoozed_for or None,
        "opened_at": format_timestamp(review.opened_at),
        "answer_by": format_timestamp(review.answer_by),
        "due_at": format_timestamp(review.due_at),
        "on_expiry": review.on_expiry,
        "closed_at": _format_moment(review.closed_at),
        "ruling": ruling or build_ruling_answer(review),
        "waiting": waiting.to_answer() if waiting else None,
        "url": build_review_url(project_slug=review.project.slug, review=code),
    }


def build_approvals(review: Review) -> dict[str, int] | None:
    """None where one person decides."""
    if review.approvals_needed == 1:
        return None
    return {"needed": review.approvals_needed, "given": review.approvals_given}


def _format_moment(at: datetime | None) -> str | None:
    return None if at is None else format_timestamp(at)


def build_ruling_answer(review: Review | None) -> dict[str, Any] | None:
    ruling: Ruling | None = getattr(review, "ruling", None)
    if ruling is None:
        return None
    return build_ruling(
        ruling.code,
        ruling.action,
        ruling.note,
        ruling.answer,
        ruling.amended,
        ruling.by.username,
        ruling.at,
        _get_grant(review),
    )


def _get_grant(review: Review | None) -> UUID | None:
    grant: Grant | None = getattr(getattr(review, "call", None), "grant", None)
    return grant.code if grant else None


def build_ruling(
    code: UUID,
    action: str,
    note: str,
    answer: str | None,
    amended: str | None,
    by: str,
    at: datetime,
    grant: UUID | None,
) -> dict[str, Any]:
    return {
        "id": str(code),
        "action": action,
        "note": note,
        "answer": answer,
        "amended": None if amended is None else json.loads(amended),
        "by": by,
        "at": format_timestamp(at),
        "grant": str(grant) if grant else None,
    }


def build_ruling_from_row(
    code: Any,
    action: str,
    note: str,
    answer: str | None,
    amended: str | None,
    by: str,
    at: Any,
    grant: Any,
) -> dict[str, Any]:
    """The same from columns as the driver has them."""
    return build_ruling(
        parse_uuid(code),
        action,
        note,
        answer,
        amended,
        by,
        parse_time(at),
        grant and parse_uuid(grant),
    )
