"""The page of one week's figures."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from console.format import format_count, format_elapsed, format_money
from console.loop.head import describe_model_requests
from console.loop.vocabulary import ACTIONS, OUTCOMES, Look
from guidance.core.loop.vocabulary import ACTIONS as ALL_ACTIONS
from guidance.core.loop.vocabulary import EMITTING
from loop.learning.iso_week import Week
from loop.learning.weekly import Summary, build_summary
from reviews.selectors import ModelCost, get_model_cost_of_project


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionRow:
    name: str
    counts: list[int]
    total: int


class Figure(NamedTuple):
    name: str
    value: str
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WeekPage:
    """`following` is empty for the current week; a week without decisions has no figures."""

    name: str
    title: str
    previous: str
    following: str
    figures: list[Figure]
    outcomes: list[Look]
    rows: list[ActionRow]
    caps: list[tuple[str, str]]


def build_week_page(project_id: int, *, week: Week, at: datetime) -> WeekPage:
    summary = build_summary(project_id, week=week)
    judge = get_model_cost_of_project(project_id, since=week.begins, until=week.ends)
    met = [
        outcome
        for outcome in OUTCOMES
        if any(counts[outcome] for counts in summary.outcomes.values())
    ]
    return WeekPage(
        name=week.name,
        title=_format_title(week),
        previous=week.previous.name,
        following=week.following.name if week < Week.from_moment(at) else "",
        figures=_list_figures(summary, judge) if summary.decisions else [],
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
            (ACTIONS[action], format_count(summary.caps_hit[action], "time"))
            for action in EMITTING
            if summary.caps_hit[action]
        ],
    )


def _list_figures(summary: Summary, judge: ModelCost) -> list[Figure]:
    median = summary.median
    return [
        Figure(
            "Decisions",
            f"{summary.decisions:,}",
            ""
            if median is None
            else f"median {format_elapsed(median // timedelta(milliseconds=1))}",
        ),
        Figure(
            "Events emitted",
            f"{summary.events:,}",
            f"{summary.succeeded} succeeded, {summary.failed} failed, "
            f"{summary.unreported} not reported",
        ),
        Figure(
            "Approvals asked",
            f"{summary.approvals:,}",
            f"{summary.approved} approved, {summary.denied} denied, "
            f"{summary.waiting} waiting",
        ),
        _build_agreement(summary),
        Figure("Cost", format_money(summary.cost_micros)),
        *(
            [
                Figure(
                    "Judge",
                    format_money(judge.cost_micros),
                    describe_model_requests(judge),
                )
            ]
            if judge.requests
            else []
        ),
    ]


def _build_agreement(summary: Summary) -> Figure:
    name = "Shadow model agreement"
    if summary.agreement is None:
        note = "no answer to compare" if summary.shadowed else "not in shadow mode"
        return Figure(name, "–", note)
    compared = summary.agreed + summary.disagreed
    note = f"{summary.agreed} of {format_count(compared, 'time')}"
    return Figure(name, f"{summary.agreement * 100:.0f} %", note)


def _format_title(week: Week) -> str:
    first, last = week.monday, week.monday + timedelta(days=6)
    begins = f"{first.day}" if first.month == last.month else f"{first.day} {first:%b}"
    return f"{begins} to {last.day} {last:%b %Y}"
