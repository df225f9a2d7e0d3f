"""Rows of recommendations: what would change, why, and who adopted or dismissed it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.html import format_html
from django.utils.safestring import SafeString

from console.format import build_past_moment, render_time
from console.loop.paging import Page, list_page
from console.loop.vocabulary import Look, get_actor_names, render_decision_link
from loop.cycle.drafting import build_drafter
from loop.models import OPEN, Recommendation, RecommendationState
from safetext import ShownText, make_visible, make_visible_line, show_text

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
    open: bool
    history: SafeString
    differences: Sequence[DifferenceRow]
    based_on: int | None
    unchanged: bool
    parameters: ShownText | None
    advice: str
    adopts: str
    problem: str


def list_open_recommendations(
    project_id: int, *, before: str, slug: str, at: datetime
) -> Page[RecommendationRow]:
    """The newest ones, or those before the one that is named."""
    all_rows = Recommendation.objects.filter(project_id=project_id)
    waiting = all_rows.filter(state__in=OPEN)
    page = list_page(waiting, among=all_rows, last=before, newest_first=True)
    return Page(rows=_build_rows(page.rows, slug=slug, at=at), next=page.next)


def list_ended_recommendations(
    project_id: int, *, slug: str, at: datetime
) -> list[RecommendationRow]:
    rows = Recommendation.objects.filter(project_id=project_id).exclude(state__in=OPEN)
    loaded = rows.select_related("ended_by", "adopted_as")
    newest = list(loaded.order_by("-ended_at", "-pk")[:ENDED_LIMIT])
    return _build_rows(newest, slug=slug, at=at)


def _build_rows(
    found: Sequence[Recommendation], *, slug: str, at: datetime
) -> list[RecommendationRow]:
    names = get_actor_names(row.actor for row in found)
    draft = build_drafter()
    return [
        _build_row(
            row,
            draft=draft(row) or {},
            history=_describe_history(row, by=names[row.actor], slug=slug, at=at),
        )
        for row in found
    ]


def _build_row(
    row: Recommendation, *, draft: Mapping[str, Any], history: SafeString
) -> RecommendationRow:
    change: Mapping[str, Any] = json.loads(row.change)
    advice = change.get("advice")
    state = RecommendationState(row.state)
    changes = draft.get("changes", ())
    return RecommendationRow(
        code=str(row.code),
        title=make_visible_line(row.title),
        detail=make_visible(row.detail),
        state=_STATES[state],
        open=row.ended_at is None,
        history=history,
        differences=[_build_difference(one) for one in changes],
        based_on=draft.get("based_on"),
        unchanged="set" in change and not changes and state in OPEN,
        parameters=_show_value(change["parameters"]) if "kind" in change else None,
        advice=make_visible(advice or ""),
        adopts=_describe_adoption(change, draft, state),
        problem=make_visible_line(draft.get("problem") or ""),
    )


def _describe_history(
    row: Recommendation, *, by: str, slug: str, at: datetime
) -> SafeString:
    """Whose it is, which decision drafted it, and how it ended."""
    source = "Learned from past rulings and runs" if row.key else f"From {by}"
    said = format_html(
        "{} {}", source, render_time(build_past_moment(row.created_at, at))
    )
    if row.decision_id:
        link = render_decision_link(row.decision_id, slug=slug)
        said = format_html("{}, drafted by {}", said, link)
    if row.ended_at is None:
        return said
    said = format_html(
        "{}. {} by {} {}",
        said,
        _STATES[RecommendationState(row.state)].word,
        make_visible_line(row.ended_by.display_name) if row.ended_by else "",
        render_time(build_past_moment(row.ended_at, at)),
    )
    policy = row.adopted_as
    if policy is None:
        return said
    return format_html(
        "{} as {}, version {}", said, make_visible_line(policy.name), policy.version
    )


def _build_difference(change: Mapping[str, Any]) -> DifferenceRow:
    kind = change["change"]
    return DifferenceRow(
        path=make_visible_line(change["path"]),
        before=None if kind == "added" else _show_value(change["before"]),
        after=None if kind == "removed" else _show_value(change["after"]),
    )


def _show_value(value: Any) -> ShownText:
    return show_text(json.dumps(value, ensure_ascii=False, indent=2))


def _describe_adoption(
    change: Mapping[str, Any], draft: Mapping[str, Any], state: RecommendationState
) -> str:
    if "advice" in change:
        return "Nothing changes automatically: it is only marked as done."
    if "kind" in change:
        kind = make_visible_line(change["kind"])
        if state in OPEN:
            return f"The loop {kind} is started with these parameters."
        return f"The loop {kind} with these parameters."
    policy = f"the policy {make_visible_line(change['policy'])}"
    if state == RecommendationState.ADOPTED:
        return f"What it changed in {policy}."
    if state == RecommendationState.DISMISSED:
        return f"What it would have changed in {policy}."
    return (
        f"Changes to {policy}, version {draft.get('based_on')}, which is in force."
        " Adopting stores them as a new version, which is not in force until a manager"
        " activates it."
    )
