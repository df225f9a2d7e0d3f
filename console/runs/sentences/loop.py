"""What the entries of the system loop say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from console.format import format_count
from console.runs.sentences.runs import Line
from guidance.core.canonical import to_canonical_json
from safetext import make_visible_line

_OUTCOMES = {
    "emitted": ("play", "go"),
    "noop": ("dot", "mute"),
    "rate_limited": ("slow", "slow"),
    "budget_denied": ("stop", "stop"),
    "approval_required": ("pause", "pause"),
    "deduplicated": ("dot", "mute"),
    "invalid_decision": ("alert", "stop"),
}
_RESOLVED = {
    "approved_and_emitted": ("check", "go", "Approved and emitted"),
    "approval_denied": ("x", "stop", "Not approved, not emitted"),
}


def describe_signal(payload: Mapping[str, Any]) -> Line:
    return Line(
        icon="inbox",
        tone="mute",
        head="Trigger",
        text=make_visible_line(payload["type"]),
        code=make_visible_line(to_canonical_json(payload["data"]))
        if payload["data"]
        else "",
    )


def describe_decision(payload: Mapping[str, Any]) -> Line:
    outcome = payload["outcome"]
    icon, tone = _OUTCOMES[outcome]
    rails = (make_visible_line(rail["message"]) for rail in payload["guardrails"])
    return Line(
        icon=icon,
        tone=tone,
        head=f"{_humanize(payload['action'])}: {_humanize(outcome).lower()}",
        text=make_visible_line(payload["reasoning"]),
        why=tuple(rails),
    )


def describe_event(payload: Mapping[str, Any]) -> Line:
    event = payload["event"]
    return Line(
        icon="link",
        tone="go",
        head="Event emitted",
        text=make_visible_line(event["kind"] or _humanize(event["action"])),
        code=make_visible_line(to_canonical_json(event["parameters"])),
    )


def describe_resolution(payload: Mapping[str, Any]) -> Line:
    icon, tone, head = _RESOLVED[payload["outcome"]]
    return Line(
        icon=icon, tone=tone, head=head, text=make_visible_line(payload["reason"])
    )


def describe_switch(payload: Mapping[str, Any]) -> Line:
    paused = payload["paused"]
    return Line(
        icon="pause" if paused else "play",
        tone="stop" if paused else "go",
        head="Loop paused" if paused else "Loop resumed",
        text=make_visible_line(payload["reason"]),
    )


def describe_report(payload: Mapping[str, Any]) -> Line:
    failed = payload["outcome"] == "failed"
    return Line(
        icon="x" if failed else "check",
        tone="stop" if failed else "mute",
        head=f"Outcome reported: {payload['outcome']}",
        text=make_visible_line(payload["summary"]),
    )


def _build_sentence(head: str) -> Callable[[Mapping[str, Any]], Line]:
    """A line for what has a state and words of its own."""

    def line(payload: Mapping[str, Any]) -> Line:
        return Line(
            icon="note",
            tone="mute",
            head=f"{head} {payload['state']}",
            text=make_visible_line(payload["text"]),
        )

    return line


def _humanize(name: str) -> str:
    return name.replace("_", " ").capitalize()


def describe_triggers(payload: Mapping[str, Any]) -> Line:
    triggers = format_count(payload["signals"], "trigger")
    return Line(icon="eye", tone="mute", head="", text=f"{triggers} from the ledger")


LOOP_LINES: dict[str, Callable[[Mapping[str, Any]], Line]] = {
    "loop.signalled": describe_signal,
    "loop.decided": describe_decision,
    "loop.emitted": describe_event,
    "loop.resolved": describe_resolution,
    "loop.switched": describe_switch,
    "loop.reported": describe_report,
    "loop.heard": describe_triggers,
    "loop.noted": _build_sentence("Note"),
    "loop.recommended": _build_sentence("Recommendation"),
    "loop.alerted": _build_sentence("Incident"),
}
