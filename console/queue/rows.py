"""Reviews as rows of the queue: what each row says."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.urls import reverse
from django.utils.safestring import SafeString

from console.charts import sparkline
from console.format import clock, iso, milliseconds
from console.people import Person, build_person
from console.runs.rows import short_code, step_figures
from reviews.models import Kind, Review
from reviews.queue.asking_rule import asking_rule, asks_about_harm
from reviews.queue.order import CALLS, count_microseconds
from safetext import visible_line

SPARK_STEPS = 30
# A wait is worth a look from here on, or from half of its time limit on.
SOON = timedelta(minutes=10)

_ICONS = {
    Kind.PAUSE: "pause",
    Kind.REQUEST: "hand",
    Kind.QUESTION: "question",
    Kind.CONFIRMATION: "stop",
    Kind.EXHAUSTED: "unpassed",
    Kind.LOOP_ACTION: "play",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewCard:
    """One row. The same for every viewer: who they are is settled on their screen."""

    code: str
    url: str
    title: str
    icon: str
    tone: str
    agent: str
    run: str
    chip: str
    spark: SafeString
    opened_at: str
    waiting: str
    urgency: str
    soon: int
    late: int
    assignee: Person | None
    call: bool
    key: int
    seq: int


def cards_of(
    reviews: Sequence[Review], *, slug: str, at: datetime, seq: int
) -> list[ReviewCard]:
    """All rows with one more query, for the sparklines."""
    run_ids = {review.run_id for review in reviews}
    figures = step_figures(run_ids=run_ids, newest=SPARK_STEPS) if run_ids else {}
    return [
        _card(
            review,
            slug=slug,
            at=at,
            seq=seq,
            tokens=[step.tokens for step in figures.get(review.run_id, ())],
        )
        for review in reviews
    ]


def chip_of(review: Review, content: dict[str, Any]) -> str:
    """The gate that led to it, or what kind of asking it is."""
    if review.kind == Kind.PAUSE:
        for finding in content["decision"]["findings"]:
            if finding["decision"] == "pause":
                return str(finding["gate"]).replace("_", " ")
    if review.kind == Kind.CONFIRMATION:
        return asking_rule(content)
    if review.kind == Kind.LOOP_ACTION:
        return visible_line(content["loop"], limit=40)
    if review.kind == Kind.EXHAUSTED:
        state = content["state"]
        return f"attempt {state['attempts']} of {state['max_attempts']}"
    return {"request": "approval", "question": "question"}.get(review.kind, review.kind)


def icon_of(review: Review) -> str:
    return _ICONS[Kind(review.kind)]


def tone_of(review: Review, content: dict[str, Any]) -> str:
    """What can destroy something is red; everything else only waits."""
    if review.kind == Kind.LOOP_ACTION:
        return "stop"
    if review.kind == Kind.CONFIRMATION and asks_about_harm(content):
        return "stop"
    return "pause"


def _rising(review: Review, content: dict[str, Any]) -> bool:
    if review.kind != Kind.PAUSE:
        return False
    findings = content["decision"]["findings"]
    return any(finding["gate"] == "slope" for finding in findings)


def _card(
    review: Review, *, slug: str, at: datetime, seq: int, tokens: Iterable[int]
) -> ReviewCard:
    content = json.loads(review.content)
    limit = review.due_at - review.opened_at
    soon = review.opened_at + min(SOON, limit / 2)
    late = review.opened_at + limit * 0.9
    return ReviewCard(
        code=str(review.code),
        url=reverse("console:review", args=[slug, review.code]),
        title=visible_line(review.title),
        icon=icon_of(review),
        tone=tone_of(review, content),
        agent=visible_line(review.run.agent.name),
        run=short_code(review.run.code),
        chip=chip_of(review, content),
        spark=sparkline(list(tokens), hot="slow" if _rising(review, content) else ""),
        opened_at=iso(review.opened_at),
        waiting=clock((at - review.opened_at).total_seconds()),
        urgency="late" if at >= late else "soon" if at >= soon else "",
        soon=milliseconds(soon),
        late=milliseconds(late),
        assignee=build_person(review.assignee) if review.assignee else None,
        call=review.kind in CALLS,
        key=count_microseconds(review.opened_at),
        seq=seq,
    )
