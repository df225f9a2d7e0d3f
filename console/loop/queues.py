"""Rows of notes and incidents: open ones first, then those that have ended."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils.html import format_html
from django.utils.safestring import SafeString

from console.format import (
    build_future_moment,
    build_past_moment,
    format_count,
    render_time,
)
from console.loop.paging import Page, list_page
from console.loop.vocabulary import (
    SEVERITY_TONES,
    Look,
    get_actor_names,
    join_phrases,
    render_decision_link,
)
from loop.models import Incident, Note, NoteState
from safetext import make_visible, make_visible_line

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
    """`history` tells whose it is, who claimed it, and when that ends."""

    code: str
    text: str
    state: Look
    reason: str
    history: SafeString


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentRow:
    code: str
    title: str
    detail: str
    condition: str
    severity: str
    tone: str
    open: bool
    recurred: bool
    history: SafeString

    @property
    def place(self) -> str:
        """Its id on the page."""
        return f"incident-{self.code}"


def list_waiting_notes(
    project_id: int, *, after: str, slug: str, at: datetime
) -> Page[NoteRow]:
    """In queue order: the first page, or the one after the row that is named."""
    all_rows = Note.objects.filter(project_id=project_id)
    waiting = all_rows.filter(state__in=_WAITING)
    page = list_page(waiting, among=all_rows, last=after, newest_first=False)
    return Page(rows=_build_note_rows(page.rows, slug=slug, at=at), next=page.next)


def list_ended_notes(project_id: int, *, slug: str, at: datetime) -> list[NoteRow]:
    rows = Note.objects.filter(project_id=project_id).exclude(state__in=_WAITING)
    newest = list(rows.order_by("-ended_at", "-pk")[:ENDED_LIMIT])
    return _build_note_rows(newest, slug=slug, at=at)


def list_open_incidents(
    project_id: int, *, slug: str, at: datetime
) -> list[IncidentRow]:
    rows = Incident.objects.filter(project_id=project_id, resolved_at__isnull=True)
    return [
        _build_incident_row(row, slug=slug, at=at)
        for row in rows.order_by("-seen_at")[:OPEN_LIMIT]
    ]


def list_ended_incidents(
    project_id: int, *, slug: str, at: datetime
) -> list[IncidentRow]:
    rows = Incident.objects.filter(project_id=project_id, resolved_at__isnull=False)
    newest = rows.order_by("-resolved_at", "-pk")[:ENDED_LIMIT]
    return [_build_incident_row(row, slug=slug, at=at) for row in newest]


def _build_note_rows(
    found: Sequence[Note], *, slug: str, at: datetime
) -> list[NoteRow]:
    names = get_actor_names(row.actor for row in found)
    return [
        NoteRow(
            code=str(row.code),
            text=make_visible(row.text),
            state=_STATES[NoteState(row.state)],
            reason=make_visible(row.reason),
            history=join_phrases(
                _list_note_history(row, by=names[row.actor], slug=slug, at=at)
            ),
        )
        for row in found
    ]


def _list_note_history(
    row: Note, *, by: str, slug: str, at: datetime
) -> Iterator[SafeString]:
    yield format_html(
        "From {} {}", by, render_time(build_past_moment(row.created_at, at))
    )
    if row.decision_id:
        link = render_decision_link(row.decision_id, slug=slug)
        yield format_html("claimed by {}", link)
    if row.claims > 1:
        yield format_html("claimed {} times", row.claims)
    returns = build_future_moment(row.claimed_until, at)
    if returns is not None:
        left = render_time(returns, "left")
        yield format_html("back in the queue in {} unless it is confirmed", left)
    if row.ended_at is not None:
        yield format_html("ended {}", render_time(build_past_moment(row.ended_at, at)))


def _build_incident_row(row: Incident, *, slug: str, at: datetime) -> IncidentRow:
    return IncidentRow(
        code=str(row.code),
        title=make_visible_line(row.title),
        detail=make_visible(row.detail),
        condition=make_visible_line(row.condition),
        severity=row.severity,
        tone=SEVERITY_TONES[row.severity],
        open=row.resolved_at is None,
        recurred=row.previous_id is not None,
        history=join_phrases(_list_incident_history(row, slug=slug, at=at)),
    )


def _list_incident_history(
    row: Incident, *, slug: str, at: datetime
) -> Iterator[SafeString]:
    yield format_html(
        "opened {} by {}",
        render_time(build_past_moment(row.opened_at, at)),
        render_decision_link(row.decision_id, slug=slug),
    )
    if row.joins:
        yield format_html(
            "fired {}, last {}",
            format_count(row.joins, "more time"),
            render_time(build_past_moment(row.seen_at, at)),
        )
    if row.resolved_at is not None:
        yield format_html(
            "resolved {}", render_time(build_past_moment(row.resolved_at, at))
        )
