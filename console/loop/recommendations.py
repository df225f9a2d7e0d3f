"""Rows of recommendations: what would change, why, and who adopted or dismissed it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from console.format import Moment, past, past_or_none
from console.loop.paging import Page, list_page
from console.loop.vocabulary import Look, get_actor_names
from loop.cycle.drafting import build_drafter
from loop.models import OPEN, Recommendation, RecommendationState
from safetext import ShownText, show_text, visible, visible_line

ENDED_LIMIT = 20
_STATES = {
    RecommendationState.PENDING: Look("New", "inbox", ""),
    RecommendationState.DRAFTED: Look("Draft ready", "edit", "pause"),
    RecommendationState.ADOPTED: Look("Adopted", "check", "go"),
    RecommendationState.DISMISSED: Look("Dismissed", "x", ""),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferenceRow:
    """One key of a policy: its current and its new value."""

    path: str
    before: ShownText | None
    after: ShownText | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecommendationRow:
    """What it sets is in `differences`, to version `based_on` of a policy; what a loop
    would be started with is in `parameters`. `adopts` says what adopting does, or did.
    """

    code: str
    title: str
    detail: str
    state: Look
    learned: bool
    by: str
    made: Moment
    differences: Sequence[DifferenceRow]
    based_on: int | None
    unchanged: bool
    parameters: ShownText | None
    advice: str
    adopts: str
    problem: str
    decision: str
    ended: Moment | None
    ended_by: str
    published: str

    @property
    def open(self) -> bool:
        return self.ended is None


def list_open_recommendations(
    project_id: int, *, before: str, at: datetime
) -> Page[RecommendationRow]:
    """The newest ones, or those before the one that is named."""
    all_rows = Recommendation.objects.filter(project_id=project_id)
    waiting = all_rows.filter(state__in=OPEN)
    page = list_page(waiting, among=all_rows, last=before, newest_first=True)
    return Page(rows=_build_rows(page.rows, at=at), last=page.last)


def list_ended_recommendations(
    project_id: int, *, at: datetime
) -> list[RecommendationRow]:
    rows = Recommendation.objects.filter(project_id=project_id).exclude(state__in=OPEN)
    loaded = rows.select_related("ended_by", "adopted_as")
    return _build_rows(list(loaded.order_by("-ended_at", "-pk")[:ENDED_LIMIT]), at=at)


def _build_rows(
    found: Sequence[Recommendation], *, at: datetime
) -> list[RecommendationRow]:
    names = get_actor_names(row.actor for row in found)
    draft = build_drafter()
    return [
        _build_row(row, draft=draft(row) or {}, by=names[row.actor], at=at)
        for row in found
    ]


def _build_row(
    row: Recommendation, *, draft: Mapping[str, Any], by: str, at: datetime
) -> RecommendationRow:
    change: Mapping[str, Any] = json.loads(row.change)
    advice = change.get("advice")
    published = row.adopted_as
    state = RecommendationState(row.state)
    changes = draft.get("changes", ())
    return RecommendationRow(
        code=str(row.code),
        title=visible_line(row.title),
        detail=visible(row.detail),
        state=_STATES[state],
        learned=bool(row.key),
        by=by,
        made=past(row.created_at, at),
        differences=[_build_difference(one) for one in changes],
        based_on=draft.get("based_on"),
        unchanged="set" in change and not changes and state in OPEN,
        parameters=_show_value(change["parameters"]) if "kind" in change else None,
        advice=visible(advice or ""),
        adopts=_describe_adoption(change, draft, state),
        problem=visible_line(draft.get("problem") or ""),
        decision=str(row.decision_id or ""),
        ended=past_or_none(row.ended_at, at),
        ended_by=visible_line(row.ended_by.display_name) if row.ended_by else "",
        published=(
            f"{visible_line(published.name)}, version {published.version}"
            if published
            else ""
        ),
    )


def _build_difference(change: Mapping[str, Any]) -> DifferenceRow:
    kind = change["change"]
    return DifferenceRow(
        path=visible_line(change["path"]),
        before=None if kind == "added" else _show_value(change["before"]),
        after=None if kind == "removed" else _show_value(change["after"]),
    )


def _show_value(value: Any) -> ShownText:
    return show_text(json.dumps(value, ensure_ascii=False, indent=2))


def _describe_adoption(
    change: Mapping[str, Any], draft: Mapping[str, Any], state: RecommendationState
) -> str:
    if "advice" in change:
        return "Nothing is changed by itself: it is marked as done."
    if "kind" in change:
        kind = visible_line(change["kind"])
        if state in OPEN:
            return f"The loop {kind} is started with these parameters."
        return f"The loop {kind} with these parameters."
    policy = f"the policy {visible_line(change['policy'])}"
    if state == RecommendationState.ADOPTED:
        return f"What it changed in {policy}."
    if state == RecommendationState.DISMISSED:
        return f"What it would have changed in {policy}."
    return (
        f"Changes to {policy}, version {draft.get('based_on')}, which is in force."
        " Once adopted, new runs are judged by them; runs under way keep what they have."
    )
