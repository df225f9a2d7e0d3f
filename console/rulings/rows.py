"""Rulings as rows of their page."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.urls import reverse

from console.format import format_elapsed, format_iso
from console.people import Person, build_person
from console.rulings.filters import ACTIONS
from console.runs.rows import format_short_code
from reviews.models import APPROVING, RulingFact
from reviews.past_rulings.outcomes import build_outcome
from reviews.past_rulings.reviewers import FAST_MS
from safetext import make_visible_line

# Icon and colour of each ruling.
_MARKS = {
    "approve": ("check", "go"),
    "amend": ("edit", "accent"),
    "deny": ("x", "stop"),
    "abort": ("stop", "stop"),
    "answer": ("question", "mute"),
    "retry": ("retry", "mute"),
    "skip": ("skip", "mute"),
}
_SEVERITIES = {"critical": "stop", "high": "pause", "medium": "", "low": "line"}
_OUTCOMES = {"go": "check", "stop": "fail", "mute": "dot"}
_SAID_LIMIT = 160


@dataclass(frozen=True, slots=True, kw_only=True)
class RulingRow:
    """`fast` is a hint that an approval came quickly, never a verdict on a person."""

    code: str
    at: str
    person: Person
    action: str
    icon: str
    tone: str
    title: str
    url: str
    agent: str
    run: str
    run_url: str
    said: str
    rule: str
    severity: str
    severity_tone: str
    waited: str
    read: str
    fast: bool
    outcome: str
    outcome_icon: str
    outcome_tone: str
    regretted: bool


def build_ruling_row(fact: RulingFact, *, slug: str, at: datetime) -> RulingRow:
    """Needs a row of `list_ruling_page`."""
    ruling, review = fact.ruling, fact.ruling.review
    icon, tone = _MARKS[fact.action]
    outcome = build_outcome(fact, at)
    said = make_visible_line(ruling.answer or ruling.note)
    return RulingRow(
        code=str(ruling.code),
        at=format_iso(fact.at),
        person=build_person(fact.by),
        action=ACTIONS[fact.action],
        icon=icon,
        tone=tone,
        title=make_visible_line(review.title),
        url=reverse("console:review", args=[slug, review.code]),
        agent=make_visible_line(fact.agent.name),
        run=format_short_code(fact.run.code),
        run_url=reverse("console:run", args=[slug, fact.run.code]),
        said=said if len(said) <= _SAID_LIMIT else f"{said[:_SAID_LIMIT]}…",
        rule=make_visible_line(fact.rule),
        severity=fact.severity,
        severity_tone=_SEVERITIES.get(fact.severity, ""),
        waited=format_elapsed(fact.took_ms),
        read=_describe_reading(fact.read_ms),
        fast=fact.action in APPROVING and _get_most_read_ms(fact) < FAST_MS,
        outcome=outcome.text,
        outcome_icon=_OUTCOMES[outcome.tone],
        outcome_tone=outcome.tone,
        regretted=outcome.regretted,
    )


def _describe_reading(read_ms: int | None) -> str:
    if read_ms is None:
        return "–"
    return format_elapsed(read_ms) if read_ms else "not opened"


def _get_most_read_ms(fact: RulingFact) -> int:
    """Where no screen told, nobody can have read for longer than it was open."""
    return fact.took_ms if fact.read_ms is None else fact.read_ms
