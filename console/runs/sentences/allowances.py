"""What entries about allowances say, in our words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from console.runs.sentences.runs import Line
from guidance.core.number_format import format_amount
from guidance.core.steps.allowances import format_value
from safetext import make_visible

ENDINGS = {
    "steps": "its steps are over",
    "time": "its time is over",
    "revoked": "taken back",
    "replaced": "another one was given",
}


def describe_allowed(payload: Mapping[str, Any]) -> Line:
    up_to = format_value(payload["gate"], payload["up_to"])
    until = payload["ends_at"][:16].replace("T", " ")
    return Line(
        icon="check",
        tone="go",
        head=f"Allowed: {payload['gate']} up to {up_to}",
        text=make_visible(payload["note"]),
        why=(
            f"for the next {format_amount(payload['steps'], 'step')}, "
            f"until {until} UTC at the latest",
        ),
    )


def describe_allowance_end(payload: Mapping[str, Any]) -> Line:
    why = ENDINGS.get(payload["reason"], "")
    return Line(
        icon="clock",
        tone="mute",
        head=f"No longer allowed: {payload['gate']}",
        why=(why,),
    )


ALLOWANCE_LINES = {
    "allowance.given": describe_allowed,
    "allowance.ended": describe_allowance_end,
}
