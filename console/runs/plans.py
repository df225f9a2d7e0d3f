"""The newest plan of a run against what was done, as its page shows it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from console.format import format_count, format_iso, format_seconds
from console.runs.sentences.plans import ENDINGS
from ledger.models import Run
from reviews.agent_plans.selectors import STANDING, PlanOfRun, list_plans
from safetext import make_visible, make_visible_line

_STATES = {
    STANDING: ("in force", "go"),
    "submitted": ("waits for a person", "pause"),
    "denied": ("denied", "stop"),
    "aborted": ("the run was aborted", "stop"),
    "expired": ("nobody decided in time", "stop"),
    "superseded": ("the run ended first", "mute"),
    "withdrawn": ("taken back", "mute"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlanStep:
    number: int
    purpose: str
    scope: tuple[str, ...]
    done: str
    is_done: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlanCard:
    """`ends_at` is empty where it is not in force; `earlier` counts plans before it."""

    title: str
    state: str
    tone: str
    steps: tuple[RunPlanStep, ...]
    outside: str
    ends_at: str
    ends_in: str
    review: str
    earlier: str


def build_plan_card(run: Run, *, at: datetime) -> RunPlanCard | None:
    """One query for a run without a plan."""
    plans = list_plans(run)
    if not plans:
        return None
    newest = plans[0]
    state, tone = _STATES.get(newest.state) or (ENDINGS[newest.state], "mute")
    ends_at = newest.ends_at if newest.state == STANDING else None
    return RunPlanCard(
        title=make_visible_line(newest.content["title"]),
        state=state,
        tone=tone,
        steps=tuple(_build_step(step) for step in newest.list_steps()),
        outside=_describe_outside(newest),
        ends_at=format_iso(ends_at) if ends_at else "",
        ends_in=format_seconds((ends_at - at).total_seconds()) if ends_at else "",
        review=str(newest.review.code),
        earlier=format_count(len(plans) - 1, "plan") if len(plans) > 1 else "",
    )


def _build_step(step: dict[str, Any]) -> RunPlanStep:
    return RunPlanStep(
        number=step["number"],
        purpose=make_visible_line(step["purpose"]),
        scope=tuple(map(make_visible, step["scope"])),
        done=f"{step['used']:,} of {format_count(step['planned'], 'call')}",
        is_done=step["used"] >= step["planned"],
    )


def _describe_outside(plan: PlanOfRun) -> str:
    if plan.approved_at is None:
        return ""
    return f"{format_count(plan.outside, 'call')} outside the plan"
