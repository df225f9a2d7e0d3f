"""The decisions that a backtest would change: both judgements side by side."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from console.format import format_iso
from console.runs.rows import format_short_code
from guidance.core.number_format import (
    format_beside,
    format_percent,
    format_percent_beside,
    format_plain,
)
from reviews.models import BacktestItem, Ruling
from reviews.policies.backtest.people import AGREE, DISAGREE
from safetext import make_visible_line

ICONS = {"step": "runs", "call": "terminal", "check": "shield", "turn": "loop"}
_NOUNS = {"step": "Step", "call": "Call", "check": "Gate check", "turn": "Turn"}
_WORDS = {"require-confirmation": "ask", "warn": "note"}
_TONES = {
    "pause": "pause",
    "require-confirmation": "pause",
    "stop": "stop",
    "block": "stop",
    "throttle": "slow",
}
_RULINGS = {
    "approve": "approved",
    "amend": "changed it",
    "deny": "denied",
    "abort": "aborted the run",
    "skip": "skipped",
    "retry": "sent it back",
}
_PEOPLE = {
    "agree": ("check", "go"),
    "disagree": ("x", "stop"),
    "silent": ("dot", "mute"),
}


# Gates whose figures are shares.
_SHARES = frozenset({"rework", "slope"})
_SAID = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    word: str
    tone: str
    said: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemRow:
    """`people` is what they did, and `said` who it was and why; both are empty where
    nobody looked."""

    icon: str
    what: str
    agent: str
    step: int
    code: str
    run: str
    before: Judged | None
    after: Judged | None
    unknown: str
    people_icon: str
    people_tone: str
    people: str
    said: str
    review: str
    bad: bool
    at: str


def build_item_rows(items: Iterable[BacktestItem], slug: str) -> tuple[ItemRow, ...]:
    """With what people ruled, by one query."""
    listed = list(items)
    reviews = {item.review for item in listed if item.review}
    found = Ruling.objects.filter(review__code__in=reviews)
    rulings = {each.review.code: each for each in found.select_related("by", "review")}
    return tuple(
        _build_item(item, rulings.get(item.review) if item.review else None, slug)
        for item in listed
    )


def _build_item(item: BacktestItem, ruling: Ruling | None, slug: str) -> ItemRow:
    judgements = json.loads(item.judgements)
    before, after = build_both(*judgements) if judgements else (None, None)
    icon, tone = _PEOPLE[item.people]
    run = item.run
    return ItemRow(
        icon=ICONS.get(item.kind, "dot"),
        what=make_visible_line(item.subject)
        or f"{_NOUNS[item.kind]}, entry {item.seq}",
        agent=make_visible_line(run.agent.name),
        step=item.step,
        code=format_short_code(run.code),
        run=f"{reverse('console:run', args=[slug, run.code])}#entry-{item.seq}",
        before=before,
        after=after,
        unknown=item.unknown,
        people_icon=icon,
        people_tone=tone,
        people=_describe_people(item),
        said=_describe_ruling(ruling) if ruling else "",
        review=reverse("console:review", args=[slug, item.review])
        if ruling is not None
        else "",
        bad=item.people == DISAGREE,
        at=format_iso(item.at),
    )


def _describe_people(item: BacktestItem) -> str:
    """One that stays the same says nothing about the draft."""
    if not item.is_change:
        return ""
    if item.ruling:
        return _RULINGS.get(item.ruling, item.ruling)
    return "aborted later" if item.people == AGREE else "no ruling"


def _describe_ruling(ruling: Ruling) -> str:
    by = make_visible_line(ruling.by.username)
    note = make_visible_line(ruling.note, limit=_SAID)
    return f"{by}: “{note}”" if note else by


def build_both(
    before: Mapping[str, Any], after: Mapping[str, Any]
) -> tuple[Judged, Judged]:
    """Both judgements of a decision; where they are the same, the second only says so."""
    if before["decision"] == after["decision"]:
        return build_judged(before), Judged(word="the same", tone="", said="")
    return (
        build_judged(before, _describe_finding(before, after)),
        build_judged(after, _describe_finding(after, before)),
    )


def build_judged(judgement: Mapping[str, Any], said: str = "") -> Judged:
    decision = judgement["decision"]
    tone = _TONES.get(decision, "")
    return Judged(word=format_decision(decision), tone=tone, said=said)


def _get_first(judgement: Mapping[str, Any]) -> Mapping[str, Any]:
    return next(iter(judgement["findings"]), {})


def _describe_finding(judgement: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    """What decided: its rule or gate, and how far over the limit it was. Where nothing
    did, what the `other` judgement found was within the limit."""
    finding, other = _get_first(judgement), _get_first(other)
    name = finding.get("rule") or finding.get("gate")
    if not name:
        value, gate = _format_value(other), make_visible_line(other.get("gate", ""))
        return f"{gate} {value}, within the limit" if value else "nothing found"
    value = _format_value(finding)
    shown = make_visible_line(name)
    return f"{shown} {value}, limit {_format_limit(finding)}" if value else shown


def _format_value(finding: Mapping[str, Any]) -> str:
    """Empty where nothing was measured."""
    value, limit = finding.get("value"), finding.get("limit")
    if value is None or limit is None:
        return ""
    if finding["gate"] in _SHARES:
        return format_percent_beside(value, limit, places=0)
    return format_beside(value, limit, places=_count_places(value))


def _format_limit(finding: Mapping[str, Any]) -> str:
    limit = finding["limit"]
    if finding["gate"] in _SHARES:
        return format_percent(limit)
    return format_plain(limit, places=_count_places(limit))


def _count_places(value: float) -> int:
    """Scores have two, amounts none."""
    return 2 if 0 < value < 1 else 0


def format_decision(decision: str) -> str:
    return _WORDS.get(decision, decision).replace("_", " ")
