"""Reads: the notes to the agent of a run."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from ledger.chain import format_timestamp
from ledger.models import Run
from reviews.models import AgentNote, DeliveredWith

Note = dict[str, Any]


def list_notes(run: Run) -> list[AgentNote]:
    return [*_list_in_order(AgentNote.objects.filter(run=run))]


def load_notes(codes: Sequence[str]) -> list[Note]:
    """As the agent is given them; asks nothing where there are none."""
    if not codes:
        return []
    return _serialize(AgentNote.objects.filter(code__in=codes))


def has_waiting_notes(run_code: str) -> bool:
    return AgentNote.objects.filter(run__code=run_code, delivered_at=None).exists()


def list_notes_of_steps(
    run_code: str, steps: Iterable[int]
) -> Mapping[int, list[Note]]:
    """Those that came with the answers to these steps: a step sent again hears the same."""
    rows = AgentNote.objects.filter(
        run__code=run_code,
        delivered_with=DeliveredWith.STEP,
        delivered_step__in=list(steps),
    )
    found: dict[int, list[Note]] = {}
    for row in _list_in_order(rows):
        found.setdefault(row.delivered_step or 0, []).append(serialize_note(row))
    return found


def list_unread_of_call(run_id: int, call: UUID | str) -> list[Note]:
    """Those that came with the answer to this call, which may have been lost."""
    return _list_unread(run_id, DeliveredWith.CALL, call)


def list_unread_of_decision(run_id: int, review: UUID | str) -> list[Note]:
    """Those that came with this decision, asked for again: the answer may have been lost."""
    return _list_unread(run_id, DeliveredWith.DECISION, review)


def serialize_note(row: AgentNote) -> Note:
    return {
        "id": str(row.code),
        "text": row.text,
        "by": row.by.username,
        "at": format_timestamp(row.at),
        "tags": json.loads(row.tags),
    }


def serialize_listed_note(row: AgentNote) -> Note:
    return {
        **serialize_note(row),
        "state": row.state.value,
        "delivered_at": row.delivered_at and format_timestamp(row.delivered_at),
        "delivered_with": row.delivered_with or None,
        "delivered_step": row.delivered_step,
        "read_at": row.read_at and format_timestamp(row.read_at),
    }


def _list_unread(run_id: int, given: DeliveredWith, subject: UUID | str) -> list[Note]:
    return _serialize(
        AgentNote.objects.filter(
            run_id=run_id, delivered_with=given, delivered_for=subject, read_at=None
        )
    )


def _serialize(rows: QuerySet[AgentNote]) -> list[Note]:
    return [serialize_note(row) for row in _list_in_order(rows)]


def _list_in_order(rows: QuerySet[AgentNote]) -> QuerySet[AgentNote]:
    return rows.select_related("by").order_by("pk")
