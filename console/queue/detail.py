"""One review with everything a person needs to rule on it: the detail pane."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.urls import reverse

from accounts.models import User
from console.format import ago, iso, milliseconds, words
from console.people import Person, build_person
from console.queue.kinds.confirmation import Confirmation, confirmation_of
from console.queue.kinds.gate_exhausted import Exhausted, exhausted_of
from console.queue.kinds.loop_action import LoopAction, loop_action_of
from console.queue.kinds.pause import Signal, signals_of
from console.queue.kinds.turn import TurnWords, turn_words_of
from console.queue.rows import icon_of, tone_of
from console.runs.summary import (
    Charts,
    RunFacts,
    charts_of,
    facts_of,
    figures_of,
    newest_steps,
)
from console.runs.timeline import TimelineRow, timeline_of
from ledger.models import Entry, Run
from reviews.models import Kind, Review, ReviewState
from reviews.queue.agent_waits import Waiting, get_waiting
from reviews.rulings.gate_choices import list_choices
from reviews.rulings.take_overs import is_taken_from
from reviews.selectors import list_review_entries
from safetext import visible, visible_line

TRAIL = 5

_OPEN = {
    Kind.PAUSE: "Paused",
    Kind.REQUEST: "Approval asked",
    Kind.QUESTION: "Question",
    Kind.CONFIRMATION: "Wants to run",
    Kind.EXHAUSTED: "Not passed",
    Kind.LOOP_ACTION: "Wants to act",
}
# Action: icon, tone, the chip's word, what somebody did.
_RULED = {
    "approve": ("check", "go", "Approved", "approved this"),
    "amend": ("check", "go", "Approved", "approved this with changes"),
    "abort": ("x", "stop", "Aborted", "aborted the run"),
    "deny": ("x", "stop", "Denied", "denied this"),
    "answer": ("note", "go", "Answered", "answered this"),
    "retry": ("retry", "go", "Retried", "gave it fresh attempts"),
    "skip": ("skip", "pause", "Skipped", "skipped the gate, which is not passed"),
}
_HINTS = {
    Kind.PAUSE: "Approve lets the run go on with a fresh window; abort ends it.",
    Kind.REQUEST: "Approve or deny is told to the agent; abort ends the run.",
    Kind.QUESTION: "Your answer goes to the agent and the run goes on.",
    Kind.CONFIRMATION: "Approve lets exactly this run, once; deny tells the agent why.",
    Kind.LOOP_ACTION: "Approve emits exactly this, once; deny, and it never is.",
}
_ENDS = {
    "abort": "the run was aborted",
    "stop": "the run was stopped",
    "deny": "it was denied",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A comment, with its author and time."""

    by: Person
    text: str
    at: str
    ago: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Closing:
    """How a review ended: a sentence, and the words that went with it. `over` says
    whose claim was walked over."""

    icon: str
    tone: str
    word: str
    sentence: str
    text: str
    at: str
    ago: str
    over: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewPane:
    code: str
    url: str
    seen: str
    kind: str
    icon: str
    tone: str
    word: str
    title: str
    step: int | None
    last_words: str
    signature: str
    detail: str
    options: tuple[str, ...]
    turn: TurnWords | None
    confirmation: Confirmation | None
    exhausted: Exhausted | None
    loop_action: LoopAction | None
    signals: list[Signal]
    charts: Charts | None
    trail: list[TimelineRow]
    steps: int
    run: RunFacts
    opened_at: str
    waiting: str
    agent: Waiting | None
    due_at: str
    answer_in: str
    on_expiry: str
    assignee: Person | None
    claimed_at: str
    claimed: str
    mine: bool
    taken: bool
    history: list[TimelineRow]
    rulings: tuple[str, ...]
    hint: str
    version: int
    digest: str
    closing: Closing | None
    comments: list[Said]

    @property
    def tripped(self) -> int:
        return sum(1 for signal in self.signals if signal.tone)


def review_loaded(*, project_id: int, code: UUID) -> Review | None:
    return (
        Review.objects.select_related(
            "run__agent", "run__policy", "assignee", "ruling__by", "agent_wait"
        )
        .filter(project_id=project_id, code=code)
        .first()
    )


def pane_of(
    review: Review, *, slug: str, viewer: User, at: datetime, page: int = 1
) -> ReviewPane:
    """A few more queries: the comments, the history with its people, the newest steps;
    another one for a long call."""
    content: dict[str, Any] = json.loads(review.content)
    comments = [
        Said(
            by=build_person(comment.author),
            text=visible(comment.text),
            at=iso(comment.at),
            ago=ago((at - comment.at).total_seconds()),
        )
        for comment in review.comments.select_related("author").order_by("pk")
    ]
    history = list_review_entries(review)
    run = facts_of(review.run, slug=slug, at=at)
    closing = closing_of(review, viewer=viewer, at=at)
    steps = newest_steps(review.run, upto=review.step_number)
    figures = figures_of(steps)
    confirmation = None
    if review.kind == Kind.CONFIRMATION:
        confirmation = confirmation_of(
            review,
            content,
            user_id=viewer.pk,
            page=page,
            last_words=_summary(steps),
        )
    served = confirmation.served if confirmation else 1
    exhausted = exhausted_of(content) if review.kind == Kind.EXHAUSTED else None
    turn = turn_words_of(content) if review.kind == Kind.QUESTION else None
    loop_action = None
    if review.kind == Kind.LOOP_ACTION:
        loop_action = loop_action_of(content)
    return ReviewPane(
        code=str(review.code),
        url=reverse("console:review", args=[slug, review.code]),
        seen=_build_fingerprint(review, comments=len(comments), served=served),
        kind=review.kind,
        icon=closing.icon if closing else icon_of(review),
        tone=closing.tone if closing else tone_of(review, content),
        word=closing.word if closing else _OPEN[Kind(review.kind)],
        title=visible_line(review.title),
        step=review.step_number,
        last_words=visible(_step(review, content).get("summary") or ""),
        signature=visible(_step(review, content).get("signature") or ""),
        detail="" if turn else visible(content.get("detail") or ""),
        options=tuple(map(visible_line, content.get("options") or ())),
        turn=turn,
        confirmation=confirmation,
        exhausted=exhausted,
        loop_action=loop_action,
        signals=(
            signals_of(content, amounts=run.amounts)
            if review.kind == Kind.PAUSE
            else []
        ),
        charts=charts_of(
            figures,
            used=_used_then(review, content),
            limit=review.run.tokens_limit,
        ),
        trail=timeline_of(steps[-TRAIL:], run=review.run, at=at),
        steps=review.run.steps,
        run=run,
        opened_at=iso(review.opened_at),
        waiting=words((at - review.opened_at).total_seconds()),
        agent=get_waiting(review, at),
        due_at=iso(review.due_at),
        answer_in=(
            words((review.due_at - at).total_seconds())
            if at < review.due_at
            else "no time left"
        ),
        on_expiry=review.on_expiry,
        assignee=build_person(review.assignee) if review.assignee else None,
        claimed_at=iso(review.claimed_at) if review.claimed_at else "",
        claimed=(
            ago((at - review.claimed_at).total_seconds()) if review.claimed_at else ""
        ),
        mine=review.assignee_id == viewer.pk,
        taken=is_taken_from(viewer, history),
        history=_history(history, run=review.run, at=at),
        rulings=list_choices(review),
        hint=exhausted.hint if exhausted else _HINTS[Kind(review.kind)],
        version=review.version,
        digest=review.content_digest,
        closing=closing,
        comments=comments,
    )


def closing_of(review: Review, *, viewer: User, at: datetime) -> Closing | None:
    """Needs `ruling__by` to be loaded; None while the review is open."""
    if review.closed_at is None:
        return None
    text = over = ""
    if review.state == ReviewState.RULED:
        ruling = review.ruling
        icon, tone, word, did = _RULED[ruling.action]
        who = "You" if ruling.by_id == viewer.pk else build_person(ruling.by).name
        sentence = f"{who} {did}"
        text = visible(ruling.answer or ruling.note)
        if review.assignee and review.assignee_id != ruling.by_id:
            mine = review.assignee_id == viewer.pk
            whose = "You" if mine else build_person(review.assignee).name
            over = f"{whose} had claimed it."
    elif review.state == ReviewState.EXPIRED:
        icon, tone, word = "clock", "stop", "Expired"
        sentence = f"Nobody answered in time; {_ENDS[review.on_expiry]}"
    elif review.state == ReviewState.WITHDRAWN:
        icon, tone, word = "x", "mute", "Withdrawn"
        sentence = "The agent withdrew this"
    else:
        icon, tone, word = "x", "mute", "Closed"
        sentence = "The run ended before anybody ruled"
    return Closing(
        icon=icon,
        tone=tone,
        word=word,
        sentence=sentence,
        text=text,
        at=iso(review.closed_at),
        ago=ago((at - review.closed_at).total_seconds()),
        over=over,
    )


def _history(entries: Sequence[Entry], *, run: Run, at: datetime) -> list[TimelineRow]:
    """What happened to it. Its title and its notes stand elsewhere in the pane."""
    told = [entry for entry in entries if entry.type != "review.commented"]
    rows = timeline_of(told, run=run, at=at)
    return [*(replace(row, text="") for row in rows[:1]), *rows[1:]]


def _step(review: Review, content: dict[str, Any]) -> dict[str, Any]:
    """The step that a gate paused at, as the agent reported it."""
    step: dict[str, Any] = content["step"] if review.kind == Kind.PAUSE else {}
    return step


def _summary(steps: Sequence[Entry]) -> str:
    """What the agent said of its last step."""
    if not steps:
        return ""
    summary: str = json.loads(steps[-1].payload)["report"]["summary"]
    return summary


def _build_fingerprint(review: Review, *, comments: int, served: int) -> str:
    """Changes whenever the pane would show something else."""
    claimed = milliseconds(review.claimed_at) if review.claimed_at else 0
    parts = (
        review.state,
        review.version,
        review.assignee_id or 0,
        claimed,
        comments,
        served,
    )
    return ".".join(map(str, parts))


def _used_then(review: Review, content: dict[str, Any]) -> int:
    """Tokens used when the review was opened: a run moves on after its ruling."""
    limit = review.run.tokens_limit
    if review.kind != Kind.PAUSE or limit is None:
        return review.run.tokens_used
    left = content["decision"]["metrics"]["budget_remaining"]["tokens"]
    return review.run.tokens_used if left is None else limit - int(left)
