"""Sense: the project as it stands, a handful of queries, each value with its time."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Count, Exists, OuterRef, Q
from django.utils import timezone

from accounts.models import SYSTEM_LOOP
from guidance.core.loop.facts import FIELDS, Measured, Snapshot
from ledger.chain import timestamp
from ledger.models import Checkpoint, Entry, ProjectHead, Run
from loop.models import Note, NoteState, Recommendation, RecommendationState
from safetext import visible_line

RECENT = 10
# Among so many of the newest entries: most are steps, and nobody counts them all.
WITHIN = 2_000
HALF_DONE_FOR = timedelta(days=7)
_SAID_LIMIT = 200
_UNFINISHED = ("running", "paused", "stopped")
_GIVEN_UP = ("abandoned", "failed", "aborted")
_LOGGED = Q(
    type__in=(
        "run.finished",
        "run.aborted",
        "run.abandoned",
        "run.stopped",
        "review.opened",
        "review.ruled",
        "review.expired",
    )
) | Q(type="step.judged", decision="stop")


def sense(project_id: int) -> Snapshot:
    """Few and plain queries: a burst of triggers asks for them again and again."""
    runs = _measured(_runs, project_id)
    counts: Counter[str] = runs.value
    left = replace(runs, value=_half_done(project_id, counts))
    return Snapshot(
        note_queue_length=_measured(_notes, project_id),
        recent_log_entries=_measured(_log, project_id),
        pending_recommendations=_measured(_recommendations, project_id),
        active_runs=replace(runs, value=counts["running"]),
        half_done=left,
    )


def oriented(snapshot: Snapshot, *, at: datetime, stale_after_s: int) -> Snapshot:
    """The same snapshot, with what has grown old by now marked as stale."""
    limit = at - timedelta(seconds=stale_after_s)
    return replace(
        snapshot,
        **{
            name: replace(field, stale=datetime.fromisoformat(field.at) < limit)
            for name in FIELDS
            for field in (snapshot.field(name),)
        },
    )


def _measured(read: Callable[[int], Any], project_id: int) -> Measured:
    at = timezone.now()
    return Measured(value=read(project_id), at=timestamp(at))


def _notes(project_id: int) -> int:
    return Note.objects.filter(project_id=project_id, state=NoteState.QUEUED).count()


def _recommendations(project_id: int) -> int:
    return Recommendation.objects.filter(
        project_id=project_id, state=RecommendationState.PENDING
    ).count()


def _runs(project_id: int) -> Counter[str]:
    """Agents' runs by status; of those that are over, the last days' alone."""
    recent = Q(finished_at__gte=timezone.now() - HALF_DONE_FOR)
    counts = (
        Run.objects.filter(
            Q(status__in=_UNFINISHED) | Q(status__in=_GIVEN_UP) & recent,
            project_id=project_id,
        )
        .exclude(intent=SYSTEM_LOOP)
        .values_list("status")
        .annotate(count=Count("pk"))
    )
    return Counter(dict(counts))


def _half_done(project_id: int, counts: Counter[str]) -> dict[str, int]:
    """What was begun and not brought to its end."""
    given_up = sum(counts[status] for status in _GIVEN_UP)
    return {
        "paused": counts["paused"],
        "stopped": counts["stopped"],
        "abandoned": counts["abandoned"],
        "checkpoints_not_resumed": _not_resumed(project_id) if given_up else 0,
    }


def _not_resumed(project_id: int) -> int:
    """Runs that were given up after they had saved something, and nobody went on with."""
    return Run.objects.filter(
        Exists(Checkpoint.objects.filter(run_id=OuterRef("pk"))),
        ~Exists(Run.objects.filter(parent_id=OuterRef("pk"))),
        project_id=project_id,
        status__in=_GIVEN_UP,
        finished_at__gte=timezone.now() - HALF_DONE_FOR,
    ).count()


def _log(project_id: int) -> list[dict[str, Any]]:
    """The newest ends, reviews and rulings of agents' runs, newest first."""
    head = (
        ProjectHead.objects.filter(pk=project_id)
        .values_list("position", flat=True)
        .first()
    )
    entries = (
        Entry.objects.filter(
            _LOGGED, project_id=project_id, position__gt=(head or 0) - WITHIN
        )
        .exclude(run__intent=SYSTEM_LOOP)
        .order_by("-position")
        .values_list("type", "payload", "run__code", "run__agent__name")
    )
    return [_logged(*row) for row in entries[:RECENT]]


def _logged(type: str, text: str, run: UUID, agent: str) -> dict[str, Any]:
    payload = json.loads(text)
    said = payload.get("reason") or payload.get("summary") or payload.get("title") or ""
    return {
        "type": logged_type(type, payload),
        "run": str(run),
        "agent": visible_line(agent),
        "said": visible_line(str(said), limit=_SAID_LIMIT),
    }


def logged_type(type: str, payload: Mapping[str, Any]) -> str:
    """As people say it: a run that finished was completed or failed."""
    if type == "run.finished":
        return f"run.{payload['outcome']}"
    return "run.stopped" if type == "step.judged" else type
