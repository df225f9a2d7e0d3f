"""A run's chain as a person reads it: one line an entry, newest first."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.urls import reverse

from accounts.models import User
from console.format import format_ago, format_iso
from console.runs.sentences.calls import (
    describe_call,
    describe_exemption,
    describe_replayed_call,
    describe_ruling,
    describe_settled_call,
    describe_started_call,
)
from console.runs.sentences.checks import (
    describe_acknowledgement,
    describe_model_request,
    describe_opened_check,
    describe_turn,
    describe_verdict,
)
from console.runs.sentences.loop import LOOP_LINES
from console.runs.sentences.policies import POLICY_LINES
from console.runs.sentences.runs import (
    describe_ending,
    describe_entry,
    describe_notice,
    describe_observed_step,
    describe_step,
    describe_violation,
)
from ledger.models import Entry, Run
from reviews.permissions.exemptions import list_blocking_secrets
from safetext import make_visible_line

PAGE = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineRow:
    """One entry: what it says (`console.runs.sentences.runs.Line`), whose it is, and when.

    `exempt_url` leads to where a secret that blocked a call can be marked as none.
    """

    seq: int
    step: int | None
    icon: str
    tone: str
    head: str
    text: str
    code: str
    why: tuple[str, ...]
    who: str
    tokens: str
    at: str
    ago: str
    exempt_url: str = ""


def list_entries(run: Run, *, before: int | None = None) -> list[Entry]:
    """The newest entries, or those before a sequence number; one more than a page."""
    entries = run.entries.order_by("-seq")
    if before is not None:
        entries = entries.filter(seq__lt=before)
    return list(entries[: PAGE + 1])


def build_timeline(
    entries: Sequence[Entry], *, run: Run, at: datetime
) -> list[TimelineRow]:
    """Needs `agent` to be loaded with the run; people are looked up in one query."""
    names = _get_names(entries, run)
    return [_build_row(entry, run=run, names=names, at=at) for entry in entries]


def _get_names(entries: Iterable[Entry], run: Run) -> dict[str, str]:
    """What to call each actor: "user:<code>" is a person, "system:<what>" is us."""
    actors = {entry.actor for entry in entries}
    actors |= {_get_claimer(entry) for entry in entries}
    people = {
        UUID(actor.removeprefix("user:"))
        for actor in actors
        if actor.startswith("user:")
    }
    names = {f"agent:{run.agent.code}": ""}  # the page is about this agent
    if people:
        for person in User.objects.filter(code__in=people):
            names[f"user:{person.code}"] = make_visible_line(person.display_name)
    return names


def _get_claimer(entry: Entry) -> str:
    """Whose claim on a review this entry took over; most often nobody's."""
    if not entry.type.startswith("review."):
        return ""
    taken: str = json.loads(entry.payload).get("taken_from", "")
    return taken


# By type of entry; those of `EVENTS` read as their words there.
SENTENCES = {
    "step.judged": describe_step,
    "step.observed": describe_observed_step,
    "review.ruled": describe_ruling,
    "call.judged": describe_call,
    "call.replayed": describe_replayed_call,
    "call.claimed": describe_started_call,
    "call.settled": describe_settled_call,
    "exemption.made": describe_exemption,
    "check.opened": describe_opened_check,
    "check.judged": describe_verdict,
    "model.asked": describe_model_request,
    "warning.acknowledged": describe_acknowledgement,
    "turn.judged": describe_turn,
    "limit.noticed": describe_notice,
    "run.finished": describe_ending,
    "violation.recorded": describe_violation,
    **LOOP_LINES,
    **POLICY_LINES,
}


def _build_row(
    entry: Entry, *, run: Run, names: Mapping[str, str], at: datetime
) -> TimelineRow:
    payload = json.loads(entry.payload)
    say = SENTENCES.get(entry.type)
    line = say(payload) if say else describe_entry(entry.type, payload)
    claimer = names.get(_get_claimer(entry))
    taken = (f"taken over from {claimer}",) if claimer else ()
    return TimelineRow(
        seq=entry.seq,
        step=entry.step_number,
        icon=line.icon,
        tone=line.tone,
        head=line.head,
        text=line.text,
        code=line.code,
        why=(*line.why, *taken),
        who=names.get(entry.actor, entry.actor.removeprefix("system:")),
        tokens=line.tokens,
        at=format_iso(entry.at),
        ago=format_ago((at - entry.at).total_seconds()),
        exempt_url=_build_exempt_url(entry, payload, run),
    )


def _build_exempt_url(entry: Entry, payload: Mapping[str, Any], run: Run) -> str:
    """Where a manager says that what blocked the call is not a secret."""
    if entry.type != "call.judged" or not list_blocking_secrets(payload):
        return ""
    return reverse("console:call-exempt", args=[run.project.slug, payload["call"]])
