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
class RunPlanCall:
    """`done` says how often it was made, or that the plan does not cover it."""

    text: str
    done: str
    tone: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlanStep:
    """`done` counts what is covered: the rest is asked about, planned or not."""

    number: int
    purpose: str
    paths: tuple[str, ...]
    calls: tuple[RunPlanCall, ...]
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
    covered = [call for call in step["calls"] if call["covered"]]
    planned = sum(call["planned"] for call in covered)
    return RunPlanStep(
        number=step["number"],
        purpose=make_visible_line(step["purpose"]),
        paths=tuple(map(make_visible_line, step["paths"])),
        calls=tuple(_build_call(call) for call in step["calls"]),
        done=f"{step['used']:,} of {format_count(planned, 'call')}"
        if covered
        else "not covered",
        is_done=step["used"] >= planned > 0,
    )


def _build_call(call: dict[str, Any]) -> RunPlanCall:
    text = make_visible(call["text"])
    if not call["covered"]:
        return RunPlanCall(text=text, done="asks as before", tone="pause")
    is_done = call["used"] >= call["planned"]
    return RunPlanCall(
        text=text,
        done=f"{call['used']:,} of {call['planned']:,}",
        tone="go" if is_done else "mute",
    )


def _describe_outside(plan: PlanOfRun) -> str:
    if plan.approved_at is None:
        return ""
    return f"{format_count(plan.outside, 'call')} outside the plan"
