"""A run's chain as a person reads it: one line an entry, newest first."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from accounts.models import User
from ledger.figures import ago, compact, iso
from ledger.models import Entry, Run
from ledger.visible import visible_line

PAGE = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineRow:
    """`head` is the event in our words, `text` what somebody said, `why` the gates."""

    seq: int
    step: int | None
    icon: str
    tone: str
    head: str
    text: str
    why: tuple[str, ...]
    who: str
    tokens: str
    at: str
    ago: str


def entries_of(run: Run, *, before: int | None = None) -> list[Entry]:
    """The newest entries, or those before a sequence number; one more than a page."""
    entries = run.entries.order_by("-seq")
    if before is not None:
        entries = entries.filter(seq__lt=before)
    return list(entries[: PAGE + 1])


def timeline_of(
    entries: Sequence[Entry], *, run: Run, at: datetime
) -> list[TimelineRow]:
    """Needs `agent` to be loaded with the run; people are looked up in one query."""
    names = _names(entries, run)
    return [_row(entry, names=names, at=at) for entry in entries]


def _names(entries: Iterable[Entry], run: Run) -> dict[str, str]:
    """What to call each actor: "user:<code>" is a person, "system:<what>" is us."""
    people = {
        UUID(entry.actor.removeprefix("user:"))
        for entry in entries
        if entry.actor.startswith("user:")
    }
    names = {f"agent:{run.agent.code}": ""}  # the page is about this agent
    if people:
        for person in User.objects.filter(code__in=people):
            names[f"user:{person.code}"] = visible_line(person.display_name)
    return names


def _row(entry: Entry, *, names: Mapping[str, str], at: datetime) -> TimelineRow:
    payload = json.loads(entry.payload)
    if entry.type == "step.judged":
        icon, tone, head, text = _step(payload)
        why = tuple(
            visible_line(finding["message"])
            for finding in payload["verdict"]["findings"]
        )
        tokens = compact(payload["report"]["tokens"])
    else:
        icon, tone, head, text = _event(entry.type, payload)
        why, tokens = (), ""
    return TimelineRow(
        seq=entry.seq,
        step=entry.step_number,
        icon=icon,
        tone=tone,
        head=head,
        text=visible_line(text),
        why=why,
        who=names.get(entry.actor, entry.actor.removeprefix("system:")),
        tokens=tokens,
        at=iso(entry.at),
        ago=ago((at - entry.at).total_seconds()),
    )


_DECISIONS = {
    "stop": ("stop", "stop", "Stopped"),
    "pause": ("pause", "pause", "Paused"),
    "throttle": ("slow", "slow", "Throttled"),
    "checkpoint": ("flag", "mute", "Checkpoint due"),
}


def _step(payload: Mapping[str, Any]) -> tuple[str, str, str, str]:
    report = payload["report"]
    text = report["summary"] or report["signature"] or ""
    tripped = _DECISIONS.get(payload["verdict"]["decision"])
    if tripped is not None:
        return (*tripped, text)
    if report["failed_calls"]:
        return "x", "stop", "Failed calls", text
    if report["rework"]:
        return "retry", "pause", "Rework", text
    if report["checkpoint"]:
        return "flag", "mute", "Checkpoint", text
    return "dot", "mute", "" if text else "Step", text


_EVENTS = {
    "run.started": ("play", "mute", "Run started"),
    "run.finished": ("check", "mute", "Run finished"),
    "run.aborted": ("x", "stop", "Run aborted"),
    "run.abandoned": ("clock", "mute", "Run abandoned"),
    "run.stopped": ("stop", "stop", "Run stopped"),
    "run.reopened": ("retry", "go", "Run reopened"),
    "checkpoint.saved": ("flag", "mute", "Checkpoint saved"),
    "review.opened": ("inbox", "pause", "Waits for a person"),
    "review.claimed": ("eye", "mute", "Review claimed"),
    "review.released": ("eye", "mute", "Review released"),
    "review.commented": ("note", "mute", "Note"),
    "review.expired": ("clock", "stop", "Nobody answered in time"),
    "review.withdrawn": ("x", "mute", "Request withdrawn by the agent"),
    "review.superseded": ("x", "mute", "Review closed with the run"),
}
_RULINGS = {
    "approve": ("check", "go", "Approved"),
    "abort": ("x", "stop", "Ruled: abort"),
    "deny": ("x", "stop", "Denied"),
    "answer": ("note", "go", "Answered"),
}
# Where an event keeps the words that belong to it.
_SAID = ("title", "answer", "note", "text", "reason", "summary", "label", "task")


def _event(kind: str, payload: Mapping[str, Any]) -> tuple[str, str, str, str]:
    text = next((payload[key] for key in _SAID if payload.get(key)), "")
    if kind == "review.ruled":
        return (*_RULINGS.get(payload["action"], ("check", "mute", "Ruled")), text)
    return (*_EVENTS.get(kind, ("dot", "mute", kind)), text)
