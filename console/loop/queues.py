"""Rows of notes and incidents: open ones first, then those that have ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from console.format import Moment, ahead, past, past_or_none
from console.loop.paging import Page, list_page
from console.loop.vocabulary import SEVERITY_TONES, Look, get_actor_names
from loop.models import Incident, Note, NoteState
from safetext import visible, visible_line

OPEN_LIMIT = 100
ENDED_LIMIT = 20
_WAITING = (NoteState.QUEUED, NoteState.CLAIMED)
_STATES = {
    NoteState.QUEUED: Look("In the queue", "inbox", ""),
    NoteState.CLAIMED: Look("Being worked on", "play", "pause"),
    NoteState.DONE: Look("Done", "check", "go"),
    NoteState.FAILED: Look("Failed", "x", "stop"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteRow:
    """`returns` is when an unconfirmed claim puts it back into the queue."""

    code: str
    text: str
    state: Look
    by: str
    made: Moment
    claims: int
    returns: Moment | None
    decision: str
    reason: str
    ended: Moment | None


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentRow:
    code: str
    title: str
    detail: str
    condition: str
    severity: str
    tone: str
    joins: int
    opened: Moment
    seen: Moment
    resolved: Moment | None
    decision: str
    came_back: bool


def list_waiting_notes(project_id: int, *, after: str, at: datetime) -> Page[NoteRow]:
    """In queue order: the first page, or the one after the row that is named."""
    all_rows = Note.objects.filter(project_id=project_id)
    waiting = all_rows.filter(state__in=_WAITING)
    page = list_page(waiting, among=all_rows, last=after, newest_first=False)
    return Page(rows=_build_note_rows(page.rows, at=at), last=page.last)


def list_ended_notes(project_id: int, *, at: datetime) -> list[NoteRow]:
    rows = Note.objects.filter(project_id=project_id).exclude(state__in=_WAITING)
    return _build_note_rows(
        list(rows.order_by("-ended_at", "-pk")[:ENDED_LIMIT]), at=at
    )


def list_open_incidents(project_id: int, *, at: datetime) -> list[IncidentRow]:
    rows = Incident.objects.filter(project_id=project_id, resolved_at__isnull=True)
    return [
        _build_incident_row(row, at=at)
        for row in rows.order_by("-seen_at")[:OPEN_LIMIT]
    ]


def list_ended_incidents(project_id: int, *, at: datetime) -> list[IncidentRow]:
    rows = Incident.objects.filter(project_id=project_id, resolved_at__isnull=False)
    newest = rows.order_by("-resolved_at", "-pk")[:ENDED_LIMIT]
    return [_build_incident_row(row, at=at) for row in newest]


def _build_note_rows(found: Sequence[Note], *, at: datetime) -> list[NoteRow]:
    names = get_actor_names(row.actor for row in found)
    return [
        NoteRow(
            code=str(row.code),
            text=visible(row.text),
            state=_STATES[NoteState(row.state)],
            by=names[row.actor],
            made=past(row.created_at, at),
            claims=row.claims,
            returns=ahead(row.claimed_until, at),
            decision=str(row.decision_id or ""),
            reason=visible(row.reason),
            ended=past_or_none(row.ended_at, at),
        )
        for row in found
    ]


def _build_incident_row(row: Incident, *, at: datetime) -> IncidentRow:
    return IncidentRow(
        code=str(row.code),
        title=visible_line(row.title),
        detail=visible(row.detail),
        condition=visible_line(row.condition),
        severity=row.severity,
        tone=SEVERITY_TONES[row.severity],
        joins=row.joins,
        opened=past(row.opened_at, at),
        seen=past(row.seen_at, at),
        resolved=past_or_none(row.resolved_at, at),
        decision=str(row.decision_id),
        came_back=row.previous_id is not None,
    )
