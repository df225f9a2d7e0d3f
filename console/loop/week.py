"""The page of one week's figures."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from console.format import money, took
from console.loop.vocabulary import ACTIONS, OUTCOMES, Look
from guidance.core.loop.vocabulary import ACTIONS as ALL_ACTIONS
from guidance.core.loop.vocabulary import EMITTING
from loop.learning.iso_week import Week
from loop.learning.weekly import Summary, build_summary


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionRow:
    name: str
    counts: list[int]
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WeekPage:
    """`following` is empty for the current week."""

    name: str
    title: str
    previous: str
    following: str
    summary: Summary
    outcomes: list[Look]
    rows: list[ActionRow]
    caps: list[tuple[str, int]]
    cost: str
    median: str
    agreement: str


def build_week_page(project_id: int, *, week: Week, at: datetime) -> WeekPage:
    summary = build_summary(project_id, week=week)
    met = [
        outcome
        for outcome in OUTCOMES
        if any(counts[outcome] for counts in summary.outcomes.values())
    ]
    median, agreement = summary.median, summary.agreement
    return WeekPage(
        name=week.name,
        title=_format_title(week),
        previous=week.previous.name,
        following=week.following.name if week < Week.containing(at) else "",
        summary=summary,
        outcomes=[OUTCOMES[outcome] for outcome in met],
        rows=[
            ActionRow(
                name=ACTIONS[action],
                counts=[summary.outcomes[action][outcome] for outcome in met],
                total=summary.outcomes[action].total(),
            )
            for action in ALL_ACTIONS
            if summary.outcomes[action].total()
        ],
        caps=[
            (ACTIONS[action], summary.caps_hit[action])
            for action in EMITTING
            if summary.caps_hit[action]
        ],
        cost=money(summary.cost_micros),
        median="" if median is None else took(median // timedelta(milliseconds=1)),
        agreement="" if agreement is None else f"{agreement * 100:.0f} %",
    )


def _format_title(week: Week) -> str:
    first, last = week.monday, week.monday + timedelta(days=6)
    begins = f"{first.day}" if first.month == last.month else f"{first.day} {first:%b}"
    return f"{begins} to {last.day} {last:%b %Y}"
