"""One review with everything a person needs to rule on it: the detail beside the list."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from accounts.models import User
from console.format import (
    format_ago,
    format_count,
    format_iso,
    format_seconds,
    to_milliseconds,
)
from console.people import Person, build_person
from console.queue.agent_wait import ShownWait, build_wait
from console.queue.kinds import get_kind
from console.queue.kinds.base import Button, NoteBox, Progress, Subject
from console.queue.outcome import Outcome, build_outcome
from console.runs.summary import (
    Charts,
    RunFacts,
    build_charts,
    build_facts,
    build_figures,
    list_newest_steps,
)
from console.runs.timeline import TimelineRow, build_timeline
from guidance.core.runs.shared_limits import NOTHING
from ledger.models import Entry, Run
from ledger.trees.relatives import read_below
from reviews.models import Review
from reviews.rulings.gate_choices import list_choices
from reviews.rulings.take_overs import is_taken_from
from reviews.selectors import list_review_entries
from safetext import make_visible, make_visible_line

TRAIL = 5
_NOTE_AFTERWARDS = NoteBox(
    label="Note", placeholder="Add a note for the record.", alone="Add note"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownComment:
    by: Person
    text: str
    at: str
    ago: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Templates:
    """The partials of its kind; an empty one is not there."""

    body: str
    buttons: str
    properties: str
    dialog: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewDetail:
    """`body` is what the partial of its kind shows; `claim` says who else looks at it."""

    code: str
    url: str
    seen: str
    icon: str
    tone: str
    word: str
    title: str
    headline: SafeString
    last_words: str
    signature: str
    step: int | None
    body: object
    templates: Templates
    progress: Progress
    charts: Charts | None
    trail: list[TimelineRow]
    marks_last_step: bool
    all_steps: str
    run: RunFacts
    opened_at: str
    waiting: str
    agent: ShownWait | None
    due_at: str
    answer_in: str
    then: str
    assignee: Person | None
    claim: SafeString
    claimed_at: str
    claimed: str
    mine: bool
    history: list[TimelineRow]
    rulings: tuple[str, ...]
    is_about_work: bool
    buttons: list[Button]
    hint: str
    note: NoteBox
    abort_text: str
    version: int
    digest: str
    outcome: Outcome | None
    comments: list[ShownComment]

    @property
    def dialog(self) -> str:
        """Whether a call may be changed is for its own partial to say."""
        return "" if self.outcome else self.templates.dialog


def load_review(*, project_id: int, code: UUID) -> Review | None:
    return (
        Review.objects.select_related(
            "run__agent", "run__policy", "assignee", "ruling__by", "agent_wait"
        )
        .filter(project_id=project_id, code=code)
        .first()
    )


def build_detail(
    review: Review, *, slug: str, viewer: User, at: datetime, page: int = 1
) -> ReviewDetail:
    """A few more queries: the comments, the history with its people, the newest steps;
    another one for a long call."""
    kind, comments = get_kind(review.kind), _list_comments(review, at=at)
    history = list_review_entries(review)
    outcome = build_outcome(review, viewer=viewer, at=at)
    steps = list_newest_steps(review.run, upto=review.step_number)
    subject = Subject(
        review=review,
        content=json.loads(review.content),
        run=build_facts(
            review.run,
            slug=slug,
            at=at,
            steps=steps,
            below=read_below([review.run_id]).get(review.run_id, NOTHING),
        ),
        steps=steps,
        viewer_id=viewer.pk,
        page=page,
        rulings=list_choices(review),
    )
    body = kind.build_body(subject)
    progress = kind.get_progress(body)
    summary, signature = kind.quote_last_step(subject)
    agent, count = subject.run.agent, format_count(review.run.steps, "step")
    return ReviewDetail(
        code=str(review.code),
        url=reverse("console:review", args=[slug, review.code]),
        seen=_build_fingerprint(review, comments=len(comments), served=progress.served),
        icon=outcome.icon if outcome else kind.icon,
        tone=outcome.tone if outcome else kind.get_tone(subject.content),
        word=outcome.word if outcome else kind.word,
        title=make_visible_line(review.title),
        headline=kind.build_headline(subject, body),
        last_words=_quote(summary, signature),
        signature=signature,
        step=review.step_number,
        body=body,
        templates=Templates(
            body=kind.template,
            buttons=kind.buttons_template,
            properties=kind.properties_template,
            dialog=kind.dialog_template,
        ),
        progress=progress,
        charts=build_charts(
            build_figures(steps),
            used=kind.count_tokens(subject),
            limit=review.run.tokens_limit,
        ),
        trail=build_timeline(steps[-TRAIL:], run=review.run, at=at),
        marks_last_step=kind.is_about_last_step,
        all_steps=f"All {count}",
        run=subject.run,
        opened_at=format_iso(review.opened_at),
        waiting=format_seconds((at - review.opened_at).total_seconds()),
        agent=build_wait(review, at),
        due_at=format_iso(review.due_at),
        answer_in=(
            format_seconds((review.due_at - at).total_seconds())
            if at < review.due_at
            else "no time left"
        ),
        then=f", then {review.on_expiry}",
        assignee=build_person(review.assignee) if review.assignee else None,
        claim=_describe_claim(review, viewer=viewer, history=history),
        claimed_at=format_iso(review.claimed_at) if review.claimed_at else "",
        claimed=(
            format_ago((at - review.claimed_at).total_seconds())
            if review.claimed_at
            else ""
        ),
        mine=review.assignee_id == viewer.pk,
        history=_build_history(history, run=review.run, at=at),
        rulings=subject.rulings,
        is_about_work=kind.is_about_work,
        buttons=kind.list_buttons(subject, body),
        hint=kind.build_hint(subject, body),
        note=_NOTE_AFTERWARDS if outcome else kind.build_note_box(subject, body),
        abort_text=(
            f"{agent} is told to stop and the run ends for good. "
            f"Its {count} {'stays' if review.run.steps == 1 else 'stay'} in the ledger."
        ),
        version=review.version,
        digest=review.content_digest,
        outcome=outcome,
        comments=comments,
    )


def _list_comments(review: Review, *, at: datetime) -> list[ShownComment]:
    return [
        ShownComment(
            by=build_person(comment.author),
            text=make_visible(comment.text),
            at=format_iso(comment.at),
            ago=format_ago((at - comment.at).total_seconds()),
        )
        for comment in review.comments.select_related("author").order_by("pk")
    ]


def _quote(summary: str, signature: str) -> str:
    """What the agent said of its last step; empty where there is nothing to tell."""
    if summary:
        return f"Its last step: “{summary}”"
    return "Its last step" if signature else ""


def _describe_claim(
    review: Review, *, viewer: User, history: Sequence[Entry]
) -> SafeString:
    """Who else has claimed it; empty where nobody has."""
    if review.assignee is None or review.assignee_id == viewer.pk:
        return SafeString("")
    taken = is_taken_from(viewer, history)
    return format_html(
        "<b>{}</b> {}",
        build_person(review.assignee).name,
        "took this over from you" if taken else "has claimed this",
    )


def _build_history(
    entries: Sequence[Entry], *, run: Run, at: datetime
) -> list[TimelineRow]:
    """What happened to it. Its title and its notes stand elsewhere in the detail."""
    told = [entry for entry in entries if entry.type != "review.commented"]
    rows = build_timeline(told, run=run, at=at)
    return [*(replace(row, text="") for row in rows[:1]), *rows[1:]]


def _build_fingerprint(review: Review, *, comments: int, served: int) -> str:
    """Changes whenever the detail would show something else."""
    claimed = to_milliseconds(review.claimed_at) if review.claimed_at else 0
    parts = (
        review.state,
        review.version,
        review.assignee_id or 0,
        claimed,
        comments,
        served,
    )
    return ".".join(map(str, parts))
