"""Recommendations as rows: what would change, on what grounds, and who answered."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ledger.moments import Moment, past, past_or_none
from ledger.visible import ShownText, show_text, visible, visible_line
from loop.models import Recommendation, RecommendationState
from loop.page.vocabulary import Look, actor_names
from loop.recommending import OPEN

OPEN_LIMIT = 100
ENDED_LIMIT = 20
_STATES = {
    RecommendationState.PENDING: Look("New", "inbox", ""),
    RecommendationState.DRAFTED: Look("Draft ready", "edit", "pause"),
    RecommendationState.ADOPTED: Look("Adopted", "check", "go"),
    RecommendationState.DISMISSED: Look("Dismissed", "x", ""),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RecommendationRow:
    """One of `change` and `advice` is there; `adopts` says what adopting it does."""

    code: str
    title: str
    detail: str
    state: Look
    learned: bool
    by: str
    made: Moment
    change: ShownText | None
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


def recommendations_open(project_id: int, *, at: datetime) -> list[RecommendationRow]:
    rows = Recommendation.objects.filter(project_id=project_id, state__in=OPEN)
    return _rows(list(rows.order_by("-pk")[:OPEN_LIMIT]), at=at)


def recommendations_ended(project_id: int, *, at: datetime) -> list[RecommendationRow]:
    rows = Recommendation.objects.filter(project_id=project_id).exclude(state__in=OPEN)
    loaded = rows.select_related("ended_by", "adopted_as")
    return _rows(list(loaded.order_by("-ended_at", "-pk")[:ENDED_LIMIT]), at=at)


def _rows(found: Sequence[Recommendation], *, at: datetime) -> list[RecommendationRow]:
    names = actor_names(row.actor for row in found)
    return [_row(row, by=names[row.actor], at=at) for row in found]


def _row(row: Recommendation, *, by: str, at: datetime) -> RecommendationRow:
    change: Mapping[str, Any] = json.loads(row.change)
    draft: Mapping[str, Any] = json.loads(row.draft) or {}
    advice = change.get("advice")
    published = row.adopted_as
    return RecommendationRow(
        code=str(row.code),
        title=visible_line(row.title),
        detail=visible(row.detail),
        state=_STATES[RecommendationState(row.state)],
        learned=bool(row.key),
        by=by,
        made=past(row.created_at, at),
        change=None if advice else _shown(change),
        advice=visible(advice or ""),
        adopts=_adopts(change),
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


def _shown(change: Mapping[str, Any]) -> ShownText:
    wanted = change["set"] if "set" in change else change["parameters"]
    return show_text(json.dumps(wanted, ensure_ascii=False, indent=2))


def _adopts(change: Mapping[str, Any]) -> str:
    if "advice" in change:
        return "Nothing is changed by itself: it is marked as done."
    if "set" in change:
        name = visible_line(change["policy"])
        return (
            f"The policy {name} gets a new version with this set in it. It is in force"
            " at once; runs that are under way keep theirs."
        )
    return f"The loop {visible_line(change['kind'])} is started with these parameters."
