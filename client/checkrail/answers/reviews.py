"""Answers about reviews, and what people ruled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from checkrail.answers.notes import Note
from checkrail.answers.parsing import Answer
from checkrail.answers.runs import Allowance

ReviewState = Literal["none", "open", "ruled", "expired", "superseded", "withdrawn"]


@dataclass(frozen=True, kw_only=True)
class Ruling(Answer):
    """What a person chose."""

    id: str
    action: str
    by: str
    at: str
    note: str = ""
    answer: str | None = None
    amended: Mapping[str, Any] | None = None
    grant: str | None = None


@dataclass(frozen=True, kw_only=True)
class WaitedReview(Answer):
    id: str
    kind: str
    version: int


@dataclass(frozen=True, kw_only=True)
class Standing(Answer):
    """How a review of the run stands."""

    run: str
    run_status: str
    state: ReviewState
    review: WaitedReview | None = None
    ruling: Ruling | None = None
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Waiting(Answer):
    """Whether an agent waits for the ruling now, and when one was last seen waiting."""

    now: bool
    last_at: str | None = None


@dataclass(frozen=True, kw_only=True)
class Approvals(Answer):
    """How many different people have to approve, and how many have."""

    needed: int
    given: int


@dataclass(frozen=True, kw_only=True)
class AllowanceChoice(Answer):
    """What one of several approvers would allow: nobody after them allows more."""

    gate: str
    up_to: float
    steps: int
    minutes: int


@dataclass(frozen=True, kw_only=True)
class Approval(Answer):
    """One that was not the last one needed; without an allowance it goes on only once."""

    by: str
    at: str
    action: str
    note: str = ""
    allowance: AllowanceChoice | None = None


@dataclass(frozen=True, kw_only=True)
class Review(Answer):
    """An item in the queue, with all that is needed to rule on it."""

    id: str
    run: str
    kind: str
    state: str
    title: str
    content: Mapping[str, Any]
    content_digest: str
    version: int
    approvals: Approvals | None = None
    project: str = ""
    agent: str = ""
    step: int | None = None
    rulings: tuple[str, ...] = ()
    assignee: str | None = None
    claimed_until: str | None = None
    snoozed_until: str | None = None
    snoozed_for: str | None = None
    opened_at: str = ""
    severity: str = ""
    reversibility: str = ""
    answer_by: str = ""
    due_at: str = ""
    on_expiry: str = ""
    closed_at: str | None = None
    ruling: Ruling | None = None
    waiting: Waiting | None = None
    url: str = ""


@dataclass(frozen=True, kw_only=True)
class HistoryItem(Answer):
    seq: int
    at: str
    type: str
    actor: str
    by: str | None = None
    taken_from: str | None = None
    to: str | None = None
    comment: str | None = None
    reply_to: str | None = None
    mentions: tuple[str, ...] = ()
    text: str | None = None


@dataclass(frozen=True, kw_only=True)
class GivenAllowance(Allowance):
    """What the ruling has allowed; `state` is `standing`, or why it ended."""

    state: str
    ended_at: str | None = None
    ended_by: str | None = None


@dataclass(frozen=True, kw_only=True)
class ReviewDetail(Review):
    allowance: GivenAllowance | None = None
    approved_by: tuple[Approval, ...] = ()
    amended: Mapping[str, Any] | None = None
    amended_findings: tuple[Mapping[str, Any], ...] = ()
    history: tuple[HistoryItem, ...] = ()
