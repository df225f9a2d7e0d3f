"""Reviews as rows of the queue: what each row says."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.urls import reverse
from django.utils.safestring import SafeString

from console.charts import draw_sparkline
from console.format import format_clock, format_iso, to_milliseconds
from console.people import Person, build_person
from console.queue.kinds import get_kind
from console.runs.rows import format_short_code, get_step_figures
from reviews.models import Review
from reviews.queue.order import FIRST_KINDS, count_microseconds
from safetext import make_visible_line

SPARK_STEPS = 30
# A wait is worth a look from here on, or from half of its time limit on.
SOON = timedelta(minutes=10)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewRow:
    """The same for every viewer: who they are is settled on their screen."""

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
    comes_first: bool
    key: int
    seq: int

    @property
    def claimed(self) -> str:
        return f"Claimed by {self.assignee.name}" if self.assignee else ""


def build_rows(
    reviews: Sequence[Review], *, slug: str, at: datetime, seq: int
) -> list[ReviewRow]:
    """All rows with one more query, for the sparklines."""
    run_ids = {review.run_id for review in reviews}
    figures = get_step_figures(run_ids=run_ids, newest=SPARK_STEPS) if run_ids else {}
    return [
        _build_row(
            review,
            slug=slug,
            at=at,
            seq=seq,
            tokens=[step.tokens for step in figures.get(review.run_id, ())],
        )
        for review in reviews
    ]


def _build_row(
    review: Review, *, slug: str, at: datetime, seq: int, tokens: Iterable[int]
) -> ReviewRow:
    content, kind = json.loads(review.content), get_kind(review.kind)
    limit = review.due_at - review.opened_at
    soon = review.opened_at + min(SOON, limit / 2)
    late = review.opened_at + limit * 0.9
    return ReviewRow(
        code=str(review.code),
        url=reverse("console:review", args=[slug, review.code]),
        title=make_visible_line(review.title),
        icon=kind.icon,
        tone=kind.get_tone(content),
        agent=make_visible_line(review.run.agent.name),
        run=format_short_code(review.run.code),
        chip=kind.build_chip(content),
        spark=draw_sparkline(
            list(tokens), hot="slow" if kind.is_rising(content) else ""
        ),
        opened_at=format_iso(review.opened_at),
        waiting=format_clock((at - review.opened_at).total_seconds()),
        urgency="late" if at >= late else "soon" if at >= soon else "",
        soon=to_milliseconds(soon),
        late=to_milliseconds(late),
        assignee=build_person(review.assignee) if review.assignee else None,
        comes_first=review.kind in FIRST_KINDS,
        key=count_microseconds(review.opened_at),
        seq=seq,
    )
