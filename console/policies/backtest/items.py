"""The decisions that a backtest would change: both judgements side by side."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from console.format import format_iso
from reviews.models import BacktestItem
from reviews.policies.backtest.people import DISAGREE
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    word: str
    tone: str
    said: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemRow:
    icon: str
    what: str
    agent: str
    step: int
    run: str
    before: Judged | None
    after: Judged | None
    unknown: str
    people_icon: str
    people_tone: str
    people: str
    bad: bool
    at: str


def build_item(item: BacktestItem, slug: str) -> ItemRow:
    before, after = json.loads(item.judgements) or (None, None)
    icon, tone = _PEOPLE[item.people]
    run = item.run
    return ItemRow(
        icon=ICONS.get(item.kind, "dot"),
        what=make_visible_line(item.subject)
        or f"{_NOUNS[item.kind]}, entry {item.seq}",
        agent=make_visible_line(run.agent.name),
        step=item.step,
        run=reverse("console:run", args=[slug, run.code]),
        before=build_judged(before) if before else None,
        after=build_judged(after) if after else None,
        unknown=item.unknown,
        people_icon=icon,
        people_tone=tone,
        people=_RULINGS.get(item.ruling, item.ruling)
        or ("aborted later" if item.people == "agree" else "no ruling"),
        bad=item.people == DISAGREE,
        at=format_iso(item.at),
    )


def build_judged(judgement: Mapping[str, Any]) -> Judged:
    decision = judgement["decision"]
    finding: Mapping[str, Any] = next(iter(judgement["findings"]), {})
    return Judged(
        word=format_decision(decision),
        tone=_TONES.get(decision, ""),
        said=_describe_finding(finding),
    )


def _describe_finding(finding: Mapping[str, Any]) -> str:
    """What decided: its rule or gate, and how far over the limit it was."""
    name = finding.get("rule") or finding.get("gate")
    if not name:
        return "nothing found"
    value, limit = finding.get("value"), finding.get("limit")
    if value is None or limit is None:
        return make_visible_line(name)
    return f"{make_visible_line(name)} {value:.3g}, limit {limit:.3g}"


def format_decision(decision: str) -> str:
    return _WORDS.get(decision, decision).replace("_", " ")
