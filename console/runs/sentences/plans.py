"""What entries about plans say, in our words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from console.format import format_count
from console.runs.sentences.runs import Line
from safetext import make_visible_line

ENDINGS = {
    "used": "all of it was done",
    "calls": "its calls are used up",
    "cost": "its cost is used up",
    "time": "its time is over",
    "replaced": "another one was approved",
    "run_ended": "the run had ended",
}


def describe_submitted(payload: Mapping[str, Any]) -> Line:
    calls = format_count(payload["calls"], "call")
    return Line(
        icon="todo",
        tone="pause",
        head="Plan submitted",
        text=make_visible_line(payload["title"]),
        why=(
            f"{format_count(payload['steps'], 'step')}, {calls}: "
            f"{format_count(payload['asking'], 'question')} asked at once",
        ),
    )


def describe_approved(payload: Mapping[str, Any]) -> Line:
    until = payload["ends_at"][:16].replace("T", " ")
    calls = format_count(payload["limits"]["tool_calls"], "call")
    return Line(
        icon="check",
        tone="go",
        head="Plan in force",
        text=make_visible_line(payload["title"]),
        why=(f"{calls} at most, until {until} UTC at the latest",),
    )


def describe_plan_end(payload: Mapping[str, Any]) -> Line:
    used = sum(count for _, _, count in payload["used"])
    said = ENDINGS.get(payload["reason"], "")
    outside = payload["outside"]
    return Line(
        icon="clock",
        tone="mute",
        head="Plan ended",
        why=(
            said,
            f"{format_count(used, 'call')} by it, {outside:,} outside",
        ),
    )


PLAN_LINES = {
    "plan.submitted": describe_submitted,
    "plan.approved": describe_approved,
    "plan.ended": describe_plan_end,
}
