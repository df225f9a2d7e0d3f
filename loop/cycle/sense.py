"""Sense: a snapshot of the project's state, each value with its time."""

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

from accounts.models import SYSTEM_AGENTS
from guidance.core.loop.facts import FIELDS, Measured, Snapshot
from ledger.chain import format_timestamp
from ledger.models import Checkpoint, Entry, ProjectHead, Run
from loop.models import Note, NoteState, Recommendation, RecommendationState
from safetext import make_visible_line

RECENT = 10
# Looked for among so many of the newest entries, most of which are steps.
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
    """Few and simple queries: a burst of triggers repeats them."""
    runs = _measure(_count_runs, project_id)
    counts: Counter[str] = runs.value
    left = replace(runs, value=_build_half_done(project_id, counts))
    return Snapshot(
        note_queue_length=_measure(_count_notes, project_id),
        recent_log_entries=_measure(_list_log_entries, project_id),
        pending_recommendations=_measure(_count_recommendations, project_id),
        active_runs=replace(runs, value=counts["running"]),
        half_done=left,
    )


def mark_stale(snapshot: Snapshot, *, at: datetime, stale_after_s: int) -> Snapshot:
    """The same snapshot with values that are too old by now marked as stale."""
    limit = at - timedelta(seconds=stale_after_s)
    return replace(
        snapshot,
        **{
            name: replace(field, stale=datetime.fromisoformat(field.at) < limit)
            for name in FIELDS
            for field in (snapshot.get_field(name),)
        },
    )


def _measure(count: Callable[[int], Any], project_id: int) -> Measured:
    at = timezone.now()
    return Measured(value=count(project_id), at=format_timestamp(at))


def _count_notes(project_id: int) -> int:
    return Note.objects.filter(project_id=project_id, state=NoteState.QUEUED).count()


def _count_recommendations(project_id: int) -> int:
    return Recommendation.objects.filter(
        project_id=project_id, state=RecommendationState.PENDING
    ).count()


def _count_runs(project_id: int) -> Counter[str]:
    """Agents' runs by status; of those that are over, only recent ones."""
    recent = Q(finished_at__gte=timezone.now() - HALF_DONE_FOR)
    counts = (
        Run.objects.filter(
            Q(status__in=_UNFINISHED) | Q(status__in=_GIVEN_UP) & recent,
            project_id=project_id,
        )
        .exclude(intent__in=SYSTEM_AGENTS)
        .values_list("status")
        .annotate(count=Count("pk"))
    )
    return Counter(dict(counts))


def _build_half_done(project_id: int, counts: Counter[str]) -> dict[str, int]:
    """Counts of runs that were begun and not completed."""
    given_up = sum(counts[status] for status in _GIVEN_UP)
    return {
        "paused": counts["paused"],
        "stopped": counts["stopped"],
        "abandoned": counts["abandoned"],
        "checkpoints_not_resumed": _count_not_resumed(project_id) if given_up else 0,
    }


def _count_not_resumed(project_id: int) -> int:
    """Runs that were given up, have a checkpoint, and no run that continues them."""
    return Run.objects.filter(
        Exists(Checkpoint.objects.filter(run_id=OuterRef("pk"))),
        ~Exists(Run.objects.filter(parent_id=OuterRef("pk"))),
        project_id=project_id,
        status__in=_GIVEN_UP,
        finished_at__gte=timezone.now() - HALF_DONE_FOR,
    ).count()


def _list_log_entries(project_id: int) -> list[dict[str, Any]]:
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
        .exclude(run__intent__in=SYSTEM_AGENTS)
        .order_by("-position")
        .values_list("type", "payload", "run__code", "run__agent__name")
    )
    return [_build_log_entry(*row) for row in entries[:RECENT]]


def _build_log_entry(type: str, text: str, run: UUID, agent: str) -> dict[str, Any]:
    payload = json.loads(text)
    said = payload.get("reason") or payload.get("summary") or payload.get("title") or ""
    return {
        "type": get_log_type(type, payload),
        "run": str(run),
        "agent": make_visible_line(agent),
        "said": make_visible_line(str(said), limit=_SAID_LIMIT),
    }


def get_log_type(type: str, payload: Mapping[str, Any]) -> str:
    """The type as people say it: a finished run was completed or failed."""
    if type == "run.finished":
        return f"run.{payload.get('status', payload['outcome'])}"
    return "run.stopped" if type == "step.judged" else type
