"""What an entry of a run's chain says, in our words: steps, reviews, the run itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from console.format import format_compact
from console.runs.scores import list_overruled
from guidance.core.runs.shared_limits import SharedLimit
from safetext import make_visible_line


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """`head` is the event in our words, `text` what somebody said, `why` the gates.

    `code` is what a program does: a command, the arguments of a tool, a file.
    """

    icon: str
    tone: str
    head: str
    text: str = ""
    code: str = ""
    why: tuple[str, ...] = ()
    tokens: str = ""


_DECISIONS = {
    "stop": ("stop", "stop", "Stopped"),
    "pause": ("pause", "pause", "Paused"),
    "throttle": ("slow", "slow", "Throttled"),
    "checkpoint": ("flag", "mute", "Checkpoint due"),
}
# Entries that need no sentence of their own; `console.runs.timeline` has the others.
EVENTS = {
    "run.started": ("play", "mute", "Run started"),
    "run.aborted": ("x", "stop", "Run aborted"),
    "run.abandoned": ("clock", "mute", "Run abandoned"),
    "run.stopped": ("stop", "stop", "Run stopped"),
    "run.deadlines_moved": ("clock", "mute", "Got back the time it was halted"),
    "run.reopened": ("retry", "go", "Run reopened"),
    "session.idle": ("clock", "mute", "Waits for the next prompt"),
    "session.prompted": ("play", "mute", "Prompted at the terminal"),
    "agent.observed": ("eye", "mute", "Agent ended"),
    "note.added": ("note", "mute", "Note"),
    "checkpoint.saved": ("flag", "mute", "Checkpoint saved"),
    "checkpoint.redacted": ("key", "mute", "Secrets removed from a checkpoint"),
    "review.opened": ("inbox", "pause", "Waiting for a person"),
    "review.late": ("flag", "stop", "Past the time to answer"),
    "review.approved": ("check", "mute", "Approved, more approvals are needed"),
    "review.amended": ("edit", "mute", "Changed, to be approved by others"),
    "review.held": ("clock", "mute", "Ruling about to be sent"),
    "review.taken_back": ("retry", "mute", "Ruling taken back"),
    "review.unsent": (
        "alert",
        "stop",
        "Ruling not sent: its page or the server was gone",
    ),
    "review.claimed": ("eye", "mute", "Review claimed"),
    "review.commented": ("note", "mute", "Note"),
    "review.expired": ("clock", "stop", "Nobody answered in time"),
    "call.expired": ("clock", "slow", "Call expired, it may not run"),
    "review.withdrawn": ("x", "mute", "Request withdrawn by the agent"),
    "review.superseded": ("x", "mute", "Review closed with the run"),
    "permission.revoked": ("key", "mute", "Standing permission revoked"),
    "exemption.revoked": ("key", "mute", "No longer marked as “not a secret”"),
}
# Where an event keeps the words that belong to it.
_SAID = ("title", "answer", "note", "text", "reason", "summary", "label", "task")


def describe_step(payload: Mapping[str, Any]) -> Line:
    report, verdict = payload["report"], payload["verdict"]
    findings = verdict["findings"]
    tripped = frozenset(finding["gate"] for finding in findings)
    said = make_visible_line(report["summary"] or report["signature"] or "")
    icon, tone, head = _choose_head(report, verdict["decision"], said)
    return Line(
        icon=icon,
        tone=tone,
        head=head,
        text=said,
        why=(
            *list_messages(findings),
            *list_overruled(verdict["metrics"], said=tripped),
        ),
        tokens=format_compact(report["tokens"]),
    )


def describe_observed_step(payload: Mapping[str, Any]) -> Line:
    """A step of a run that is only observed: what would have been decided."""
    decision = payload["verdict"]["decision"]
    line = describe_step(payload)
    if decision not in _DECISIONS:
        return line
    head = f"Would {decision}" if decision != "checkpoint" else line.head
    return replace(line, tone="mute", head=head)


def _choose_head(
    report: Mapping[str, Any], decision: str, said: str
) -> tuple[str, str, str]:
    held = _DECISIONS.get(decision)
    if held is not None:
        return held
    if report["failed_calls"]:
        return "x", "stop", "Failed calls"
    if report["rework"]:
        return "retry", "pause", "Rework"
    if report["checkpoint"]:
        return "flag", "mute", "Checkpoint"
    return "dot", "mute", "" if said else "Step"


def describe_notice(payload: Mapping[str, Any]) -> Line:
    facts = {name: value for name, value in payload.items() if name != "percent"}
    limit = SharedLimit.from_json(facts)
    return Line(
        icon="clock",
        tone="slow",
        head=f"{payload['percent']} % of a limit used",
        text=limit.describe_use(),
    )


def describe_ending(payload: Mapping[str, Any]) -> Line:
    """As the run was judged; before runs were judged, as its agent said."""
    status = payload.get("status", payload["outcome"])
    if status == "completed":
        return Line(
            icon="check", tone="mute", head="Run finished", text=find_text(payload)
        )
    said = payload["outcome"] == "completed"
    head = "Run failed, its agent said completed" if said else "Run failed"
    return Line(icon="x", tone="stop", head=head, text=find_text(payload))


def describe_violation(payload: Mapping[str, Any]) -> Line:
    rule = make_visible_line(payload["rule"])
    corrected = ", corrected" if payload["auto_corrected"] else ""
    return Line(
        icon="alert",
        tone="slow",
        head=f"The agent broke {rule}, {payload['severity']}{corrected}",
        text=make_visible_line(payload["description"]),
    )


def describe_entry(kind: str, payload: Mapping[str, Any]) -> Line:
    icon, tone, head = EVENTS.get(kind, ("dot", "mute", kind))
    return Line(icon=icon, tone=tone, head=head, text=find_text(payload))


def find_text(payload: Mapping[str, Any]) -> str:
    return make_visible_line(
        next((payload[key] for key in _SAID if payload.get(key)), "")
    )


def list_messages(findings: list[Mapping[str, Any]]) -> tuple[str, ...]:
    """What each gate said, once where several say the same."""
    said = (make_visible_line(finding["message"]) for finding in findings)
    return tuple(dict.fromkeys(said))
