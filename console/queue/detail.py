"""One review with everything a person needs to rule on it: the detail beside the list."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from django.urls import reverse
from django.utils.safestring import SafeString

from accounts.models import User
from console.format import (
    format_count,
    format_iso,
    format_left,
    format_seconds,
    to_milliseconds,
)
from console.people import Person, build_person
from console.queue.agent_wait import ShownWait, build_wait
from console.queue.allowances.given import ShownAllowance, build_given
from console.queue.allowances.offer import AllowanceOffer
from console.queue.approvals import ShownApprovals, build_approvals
from console.queue.folds.left import AlikeLeft, count_alike_left
from console.queue.held import ShownHeld, list_held
from console.queue.kinds import get_kind
from console.queue.kinds.base import Button, NoteBox, Progress, Subject
from console.queue.kinds.proportion import fit_buttons
from console.queue.memory.delivery import Delivery, build_delivery
from console.queue.memory.past import PastRulings, build_past_rulings
from console.queue.outcome import Outcome, build_outcome
from console.queue.rows import SEVERITY_TONES
from console.queue.teamwork.comments import ShownComment, list_threads
from console.queue.teamwork.shown import Teamwork, build_teamwork
from console.runs.agent_notes import may_be_told
from console.runs.summary import (
    Charts,
    RunFacts,
    build_charts,
    build_facts,
    build_figures,
    list_newest_steps,
)
from console.runs.timeline import TimelineRow, build_timeline
from guidance.core.reviews.four_eyes import APPROVING
from guidance.core.runs.shared_limits import NOTHING
from ledger.models import Entry, Run
from ledger.trees.relatives import read_below
from reviews.models import Reversibility, Review, Severity
from reviews.rulings.gate_choices import list_choices
from reviews.selectors import list_review_entries
from safetext import make_visible_line

TRAIL = 5
_NOTE_AFTERWARDS = NoteBox(
    label="Note", placeholder="Add a note for the record.", alone="Add note"
)


# What becomes of it when nobody rules, by the outcome that the policy names.
_THEN = {
    "abort": "the run is aborted",
    "stop": "the run is stopped",
    "deny": "it is denied",
}


class Undo(NamedTuple):
    """Whether what it lets happen can be undone: in a few words, and in a sentence."""

    word: str
    text: str


_UNDO = {
    Reversibility.READ_ONLY: Undo(
        "Changes nothing", "It only reads; what was read stays known."
    ),
    Reversibility.HERE: Undo("Can be undone", "Where the agent works."),
    Reversibility.ELSEWHERE: Undo(
        "Can be undone elsewhere", "By somebody who has access there."
    ),
    Reversibility.IRREVERSIBLE: Undo(
        "Cannot be undone", "Nothing is known that would undo it."
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Templates:
    """The partials of its kind; an empty one is not there."""

    body: str
    buttons: str
    properties: str
    dialog: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewDetail:
    """`body` is what the partial of its kind shows; `team` says who has it."""

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
    severity: str
    severity_tone: str
    undo: Undo
    answer_by: str
    left: str
    is_late: bool
    due_at: str
    ends_in: str
    then: str
    assignee: Person | None
    team: Teamwork
    mine: bool
    history: list[TimelineRow]
    rulings: tuple[str, ...]
    is_about_work: bool
    may_tell: bool
    buttons: list[Button]
    hint: str
    note: NoteBox
    abort_text: str
    version: int
    digest: str
    outcome: Outcome | None
    alike_left: AlikeLeft | None
    past: PastRulings | None
    delivery: Delivery | None
    offer: AllowanceOffer | None
    given: ShownAllowance | None
    comments: list[ShownComment]
    comment_count: int
    approvals: ShownApprovals | None
    held: list[ShownHeld]

    @property
    def is_held(self) -> bool:
        """Whether the viewer has ruled, and may still take it back."""
        return any(each.mine for each in self.held)

    @property
    def refusal(self) -> str:
        """Why the viewer may not approve it; empty where they may."""
        return self.approvals.refusal if self.approvals else ""

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
    kind, comments = get_kind(review.kind), list_threads(review, viewer=viewer, at=at)
    comment_count = sum(1 + len(each.replies) for each in comments)
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
    held = list_held(review, viewer=viewer, at=at)
    approvals = build_approvals(review, viewer=viewer, at=at, once=kind.says_once)
    body = kind.build_body(subject)
    given = build_given(review, at=at) if outcome else None
    progress = kind.get_progress(body)
    summary, signature = kind.quote_last_step(subject)
    agent, count = subject.run.agent, format_count(review.run.steps, "step")
    return ReviewDetail(
        code=str(review.code),
        url=reverse("console:review", args=[slug, review.code]),
        seen=_build_fingerprint(
            review,
            comments=comment_count,
            served=progress.served,
            held=[each.code for each in held],
            given=given.state if given else "",
        ),
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
        severity=review.severity,
        severity_tone=SEVERITY_TONES[Severity(review.severity)],
        undo=_UNDO[Reversibility(review.reversibility)],
        answer_by=format_iso(review.answer_by),
        left=format_left((review.answer_by - at).total_seconds()),
        is_late=at >= review.answer_by,
        due_at=format_iso(review.due_at),
        ends_in=(
            format_seconds((review.due_at - at).total_seconds())
            if at < review.due_at
            else "no time left"
        ),
        then=_THEN.get(review.on_expiry, review.on_expiry),
        assignee=build_person(review.assignee) if review.assignee else None,
        team=build_teamwork(review, viewer=viewer, history=history, at=at),
        mine=review.assignee_id == viewer.pk,
        history=_build_history(history, run=review.run, at=at),
        rulings=subject.rulings,
        is_about_work=kind.is_about_work,
        may_tell=may_be_told(review.run),
        buttons=[
            _fit_approvals(button, approvals)
            for button in fit_buttons(kind.list_buttons(subject, body), review.severity)
        ],
        hint=(approvals and approvals.hint) or kind.build_hint(subject, body),
        note=_NOTE_AFTERWARDS if outcome else kind.build_note_box(subject, body),
        abort_text=(
            f"{agent} is told to stop and the run ends for good. "
            f"Its {count} {'stays' if review.run.steps == 1 else 'stay'} in the ledger."
        ),
        version=review.version,
        digest=review.content_digest,
        outcome=outcome,
        alike_left=(
            count_alike_left(review, slug=slug)
            if outcome or any(each.mine for each in held)
            else None
        ),
        past=build_past_rulings(review, slug=slug, at=at),
        delivery=build_delivery(review, at),
        offer=None if outcome else kind.build_allowance_offer(subject),
        given=given,
        comments=comments,
        comment_count=comment_count,
        approvals=approvals,
        held=held,
    )


def _fit_approvals(button: Button, approvals: ShownApprovals | None) -> Button:
    """Where several people approve, it says which approval it would be."""
    if approvals is None or button.action not in APPROVING:
        return button
    label = approvals.label if button.action == "approve" else button.label
    return replace(button, label=label, disabled=bool(approvals.refusal))


def _quote(summary: str, signature: str) -> str:
    """What the agent said of its last step; empty where there is nothing to tell."""
    if summary:
        return f"Its last step: “{summary}”"
    return "Its last step" if signature else ""


def _build_history(
    entries: Sequence[Entry], *, run: Run, at: datetime
) -> list[TimelineRow]:
    """What happened to it. Its title and its notes stand elsewhere in the detail."""
    told = [entry for entry in entries if entry.type != "review.commented"]
    rows = build_timeline(told, run=run, at=at)
    return [*(replace(row, text="") for row in rows[:1]), *rows[1:]]


def _build_fingerprint(
    review: Review, *, comments: int, served: int, held: Sequence[str], given: str
) -> str:
    """Changes whenever the detail would show something else."""
    since = review.claimed_at or review.assigned_at
    claimed = to_milliseconds(since) if since else 0
    parts = (
        review.state,
        review.version,
        review.assignee_id or 0,
        to_milliseconds(review.snoozed_until) if review.snoozed_until else 0,
        claimed,
        comments,
        served,
        *held,
        *([given] if given else []),
    )
    return ".".join(map(str, parts))
