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
from console.runs.sentences.administration import ADMINISTRATION_LINES
from console.runs.sentences.agent_notes import AGENT_NOTE_LINES
from console.runs.sentences.allowances import ALLOWANCE_LINES
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
from console.runs.sentences.kinds import find_kind, get_word
from console.runs.sentences.loop import LOOP_LINES
from console.runs.sentences.plans import PLAN_LINES
from console.runs.sentences.policies import POLICY_LINES
from console.runs.sentences.runs import (
    Line,
    describe_ending,
    describe_entry,
    describe_notice,
    describe_observed_step,
    describe_step,
    describe_violation,
)
from console.runs.sentences.teamwork import TEAMWORK_LINES
from ledger.models import Entry, Run
from reviews.permissions.exemptions import list_blocking_secrets
from safetext import make_visible_line


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineRow:
    """One entry: what it says (`console.runs.sentences.runs.Line`), whose it is, and when.

    `kind` is the filter that shows it, `word` what its chip says, `url` where all of it is.
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
    kind: str
    word: str
    url: str = ""
    exempt_url: str = ""


def build_timeline(
    entries: Sequence[Entry], *, run: Run, at: datetime, slug: str = ""
) -> list[TimelineRow]:
    """Needs `agent` to be loaded with the run; people are looked up in one query.
    With the `slug` of its project a row leads to the page of its entry."""
    names = _get_names(entries, run)
    return [
        _build_row(entry, run=run, names=names, at=at, slug=slug) for entry in entries
    ]


def _get_names(entries: Iterable[Entry], run: Run) -> dict[str, str]:
    """What to call each actor: "user:<code>" is a person, "system:<what>" is us."""
    actors = {entry.actor for entry in entries}
    for entry in entries:
        actors |= {*_list_others(entry).values()}
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


_OTHERS = {"taken_from": "taken over from", "to": "given to"}


def _list_others(entry: Entry) -> dict[str, str]:
    """Other people whom an entry about a review names: whose claim it took over, and to
    whom it was given."""
    if not entry.type.startswith("review."):
        return {}
    try:
        payload = json.loads(entry.payload)
        return {name: payload[name] for name in _OTHERS if payload.get(name)}
    except UNREADABLE:
        return {}


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
    **TEAMWORK_LINES,
    **ALLOWANCE_LINES,
    **AGENT_NOTE_LINES,
    **PLAN_LINES,
    **ADMINISTRATION_LINES,
}


# What a payload raises that was changed past the server.
UNREADABLE = (
    *(ArithmeticError, AttributeError, LookupError, RecursionError),
    *(TypeError, ValueError),
)
_DAMAGED = Line(
    icon="alert",
    tone="stop",
    head="This entry cannot be read",
    text="Its payload is damaged. Verify the run to see where its ledger is broken.",
)


def _describe(entry: Entry) -> tuple[Mapping[str, Any], Line]:
    """The payload, and what it says; a damaged one must not hide all the others."""
    try:
        payload = json.loads(entry.payload)
        say = SENTENCES.get(entry.type)
        line = say(payload) if say else describe_entry(entry.type, payload)
    except UNREADABLE:
        return {}, _DAMAGED
    return payload, line


def _build_row(
    entry: Entry, *, run: Run, names: Mapping[str, str], at: datetime, slug: str
) -> TimelineRow:
    payload, line = _describe(entry)
    others = [
        f"{_OTHERS[name]} {names[person]}"
        for name, person in _list_others(entry).items()
        if person in names
    ]
    return TimelineRow(
        seq=entry.seq,
        step=entry.step_number,
        icon=line.icon,
        tone=line.tone,
        head=line.head,
        text=line.text,
        code=line.code,
        why=(*line.why, *others),
        who=names.get(entry.actor, entry.actor.removeprefix("system:")),
        tokens=line.tokens,
        at=format_iso(entry.at),
        ago=format_ago((at - entry.at).total_seconds()),
        kind=find_kind(entry.type),
        word=get_word(entry.type),
        url=slug and reverse("console:run-entry", args=[slug, run.code, entry.seq]),
        exempt_url=_build_exempt_url(entry, payload, run),
    )


def _build_exempt_url(entry: Entry, payload: Mapping[str, Any], run: Run) -> str:
    """Where a manager says that what blocked the call is not a secret."""
    if entry.type != "call.judged" or not payload or not list_blocking_secrets(payload):
        return ""
    return reverse("console:call-exempt", args=[run.project.slug, payload["call"]])
