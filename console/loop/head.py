"""The header of every loop page: the switch, the clock, and counts of open items."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils.html import format_html
from django.utils.safestring import SafeString

from console.charts import draw_gauge
from console.format import (
    ShownMoment,
    build_future_moment,
    build_past_moment,
    build_past_moment_or_none,
    format_count,
    format_money,
    render_time,
)
from console.loop.vocabulary import ACTIONS, DECIDERS
from guidance.core.loop.section import LoopSection
from guidance.core.loop.vocabulary import EMITTING
from loop.models import (
    OPEN,
    Incident,
    Note,
    NoteState,
    ProjectLoop,
    Recommendation,
    Signal,
)
from loop.runs import get_loop
from loop.selectors import count_used_this_hour, get_midnight, sum_spent_today
from reviews.selectors import ModelCost, get_model_cost_of_project
from safetext import make_visible, make_visible_line

# The clock ticks every minute: a beat that is later than this is not on its way.
GRACE = timedelta(minutes=5)
# From this share on a meter is coloured.
NEAR = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopPause:
    """Who paused the loop and when, as the first words of a notice."""

    who: SafeString
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """`late` says since when a heartbeat is overdue."""

    pause: LoopPause | None
    decider: str
    beat: ShownMoment | None
    next: SafeString
    late: ShownMoment | None
    waiting: str
    notes: int
    recommendations: int
    incidents: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Meter:
    """An amount and its limit; `tone` shows whether it is close to that."""

    name: str
    used: str
    limit: str
    bar: SafeString
    tone: str


def build_head(project_id: int, section: LoopSection, *, at: datetime) -> Head:
    loop = get_loop(project_id)
    signals = Signal.objects.filter(project_id=project_id, pending=True)
    waiting = signals.count()
    due = _get_due_time(loop, section)
    notes = Note.objects.filter(
        project_id=project_id, state__in=(NoteState.QUEUED, NoteState.CLAIMED)
    )
    recommendations = Recommendation.objects.filter(
        project_id=project_id, state__in=OPEN
    )
    incidents = Incident.objects.filter(project_id=project_id, resolved_at__isnull=True)
    return Head(
        pause=_build_pause(loop, at=at),
        decider=f"decided by {DECIDERS[section.decider].lower()}",
        beat=build_past_moment_or_none(loop.heartbeat_at, at),
        next=_describe_next(build_future_moment(due, at)),
        late=build_past_moment(due, at)
        if due is not None and due + GRACE < at
        else None,
        waiting=f"{format_count(waiting, 'trigger')} waiting" if waiting else "",
        notes=notes.count(),
        recommendations=recommendations.count(),
        incidents=incidents.count(),
    )


def list_meters(project_id: int, section: LoopSection, *, at: datetime) -> list[Meter]:
    """The hourly caps, and what models have cost today: the loop's, and the judge of
    gate checks, which has no limit of its own."""
    used = count_used_this_hour(project_id, at=at)
    caps = [
        _build_meter(
            ACTIONS[action],
            used[action],
            section.caps_per_hour[action],
            str,
            period=" this hour",
        )
        for action in EMITTING
    ]
    spent = sum_spent_today(project_id, at=at)
    judge = get_model_cost_of_project(project_id, since=get_midnight(at))
    return [
        *caps,
        _build_meter("Cost today", spent, section.cost_per_day_micros, format_money),
        *([_build_judge_meter(judge)] if judge.requests else []),
    ]


def _build_judge_meter(cost: ModelCost) -> Meter:
    return Meter(
        name="Judge today",
        used=format_money(cost.cost_micros),
        limit=describe_model_requests(cost),
        bar=SafeString(""),
        tone="",
    )


def describe_model_requests(cost: ModelCost) -> str:
    asked = format_count(cost.requests, "question")
    return f"{asked}, {cost.unpriced} without a price" if cost.unpriced else asked


def _describe_next(beat: ShownMoment | None) -> SafeString:
    if beat is None:
        return SafeString("next within a minute")
    return format_html("next in {}", render_time(beat, "left"))


def _get_due_time(loop: ProjectLoop, section: LoopSection) -> datetime | None:
    """When the next heartbeat is due; None before the first one."""
    if loop.heartbeat_at is None:
        return None
    beat = loop.heartbeat_at + timedelta(seconds=section.heartbeat_s)
    looked = loop.looked_at or loop.heartbeat_at
    return max(beat, looked + timedelta(seconds=section.min_gap_s))


def _build_pause(loop: ProjectLoop, *, at: datetime) -> LoopPause | None:
    if loop.paused_at is None:
        return None
    by = loop.paused_by
    return LoopPause(
        who=format_html(
            "Paused by {} {}.",
            make_visible_line(by.display_name) if by else "somebody",
            render_time(build_past_moment(loop.paused_at, at)),
        ),
        reason=make_visible(loop.paused_reason),
    )


def _build_meter(
    name: str,
    used: int,
    limit: int | None,
    write: Callable[[int], str],
    *,
    period: str = "",
) -> Meter:
    share = None if limit is None else used / limit if limit else 1.0
    tone = ""
    if share is not None and share >= NEAR:
        tone = "hot stop" if share >= 1 else "hot"
    return Meter(
        name=name,
        used=write(used),
        limit=("no limit" if limit is None else f"of {write(limit)}") + period,
        bar=draw_gauge(share=share or 0.0, tick=None),
        tone=tone,
    )
