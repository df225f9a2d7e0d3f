"""Reviews as rows of the queue: what each row says."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.urls import reverse
from django.utils.safestring import SafeString

from console.charts import draw_sparkline
from console.format import format_iso, format_left, to_milliseconds
from console.people import Person, build_person
from console.queue.kinds import get_kind
from console.runs.rows import format_short_code, get_step_figures
from reviews.models import Review, Severity
from reviews.queue.folds import is_foldable
from reviews.queue.places import count_microseconds
from reviews.teamwork.comments import list_unseen_mentions
from safetext import make_visible_line

SPARK_STEPS = 30
# A review is due soon in the last part of its own time.
SOON_SHARE = 0.25
# The colour of a severity; the word says the same.
SEVERITY_TONES = {
    Severity.CRITICAL: "stop",
    Severity.HIGH: "pause",
    Severity.MEDIUM: "n",
    Severity.LOW: "n",
}


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
    task: str
    chip: str
    spark: SafeString
    severity: str
    urgency: int
    answer_by: str
    left: str
    nearness: str
    soon: int
    late: int
    assignee: Person | None
    mentioned: str
    approvals: str
    answer_key: int
    opened_key: int
    alike: str
    kind: str
    seq: int

    template = "console/queue/_row.html"
    count = 1

    @property
    def claimed(self) -> str:
        return f"Claimed by {self.assignee.name}" if self.assignee else ""


def build_rows(
    reviews: Sequence[Review], *, slug: str, at: datetime, seq: int
) -> list[ReviewRow]:
    """All rows with two more queries, for the sparklines and for who was mentioned."""
    figures = get_step_figures(
        runs={review.run_id: review.run for review in reviews}, newest=SPARK_STEPS
    )
    mentioned = list_unseen_mentions(review.pk for review in reviews)
    return [
        _build_row(
            review,
            mentioned=mentioned.get(review.pk, ()),
            slug=slug,
            at=at,
            seq=seq,
            tokens=[step.tokens for step in figures.get(review.run_id, ())],
        )
        for review in reviews
    ]


def _build_row(
    review: Review,
    *,
    slug: str,
    at: datetime,
    seq: int,
    tokens: Iterable[int],
    mentioned: Iterable[str],
) -> ReviewRow:
    content, kind = json.loads(review.content), get_kind(review.kind)
    late = review.answer_by
    soon = late - (late - review.opened_at) * SOON_SHARE
    return ReviewRow(
        code=str(review.code),
        url=reverse("console:review", args=[slug, review.code]),
        title=make_visible_line(review.title),
        icon=kind.icon,
        tone=kind.get_tone(content),
        agent=make_visible_line(review.run.agent.name),
        run=format_short_code(review.run.code),
        task=make_visible_line(review.run.task) if kind.is_about_work else "",
        chip=kind.build_chip(content),
        spark=draw_sparkline(
            list(tokens), hot="slow" if kind.is_rising(content) else ""
        ),
        severity=review.severity,
        urgency=review.urgency,
        answer_by=format_iso(late),
        left=format_left((late - at).total_seconds()),
        nearness="late" if at >= late else "soon" if at >= soon else "",
        soon=to_milliseconds(soon),
        late=to_milliseconds(late),
        assignee=build_person(review.assignee) if review.assignee else None,
        mentioned=" ".join(mentioned),
        approvals=(
            f"{review.approvals_given} of {review.approvals_needed}"
            if review.approvals_needed > 1
            else ""
        ),
        answer_key=count_microseconds(late),
        opened_key=count_microseconds(review.opened_at),
        kind=review.kind,
        alike=review.alike_key if is_foldable(review) else "",
        seq=seq,
    )
