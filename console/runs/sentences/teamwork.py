"""What entries about people who share reviews say, in our words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from console.runs.sentences.runs import Line
from safetext import make_visible

_HOW = {
    "least_loaded": "to who has the fewest open",
    "round_robin": "in turn",
}


def describe_release(payload: Mapping[str, Any]) -> Line:
    over = payload.get("cause") == "lease"
    head = "Claim ended: its claimer was gone" if over else "Review released"
    return Line(icon="clock" if over else "eye", tone="mute", head=head)


def describe_assignment(payload: Mapping[str, Any]) -> Line:
    """To whom is told beside it, by name."""
    head = "Review assigned" if payload["to"] else "Handed over to everybody"
    why: tuple[str, ...] = ()
    if "role" in payload:
        how = _HOW.get(payload.get("how", ""), "")
        why = (f"by the role {payload['role']}, {how}",)
    return Line(
        icon="people",
        tone="mute",
        head=head,
        text=make_visible(payload["note"]),
        why=why,
    )


_UNTIL = {
    "run": "until something happens in the run",
    "comment": "until somebody comments",
}
_CAUSES = {
    "time": "its time has come",
    "run": "something happened in the run",
    "person": "brought back",
}


def describe_snooze(payload: Mapping[str, Any]) -> Line:
    until = f"until {payload['until'][:16].replace('T', ' ')} UTC"
    event = _UNTIL.get(payload["event"], "")
    why = (event, f"{until} at the latest") if event else (until,)
    return Line(icon="clock", tone="mute", head="Set aside", why=why)


def describe_return(payload: Mapping[str, Any]) -> Line:
    why = (_CAUSES.get(payload["cause"], ""),)
    return Line(icon="retry", tone="mute", head="Back in the queue", why=why)


TEAMWORK_LINES = {
    "review.snoozed": describe_snooze,
    "review.returned": describe_return,
    "review.released": describe_release,
    "review.assigned": describe_assignment,
}
