"""Answers about gate checks and turns, as the API documents them."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

from common.fields import Id
from ledger.schemas import PolicyStamp, Receipt, ReviewReference

Mode = Literal["blocking", "advisory", "informational"]
TurnAction = Literal["auto_continue", "warn", "finish", "needs_human", "in_progress"]


class WarningOut(BaseModel):
    """What an advisory gate said, until a person has acknowledged it."""

    id: Id
    check: Id
    text: str


class StandingCheck(BaseModel):
    """A gate check as it stands; `prompt` is what to ask the model next."""

    id: Id
    run: Id
    status: str
    gates: list[str]
    enforcement_mode: Mode
    attempt: int
    max_attempts: int
    attempts_left: int
    previous_feedback: str | None
    prompt: str | None
    advisory_warnings: list[WarningOut]


class OpenedCheckOut(StandingCheck):
    """A gate check that has just begun."""

    receipt: Receipt


class CheckOut(StandingCheck):
    """`guidance` is what a reviewer said when they had the check begin anew."""

    step: int
    guidance: str | None
    review: ReviewReference | None


class VerdictOut(StandingCheck):
    """`unproven` are criteria whose verifier has not passed: a PASS needs all of them."""

    outcome: Literal["passed", "retry", "warned", "logged", "exhausted"]
    hints: list[str]
    unproven: list[str]
    review: ReviewReference | None
    receipt: Receipt


class SignalsOut(BaseModel):
    """How much each sign says that the turn is not done."""

    finish_reason: int
    last_event: int
    content_intent: int
    no_summary: int
    tool_ratio: int


class TurnEvaluationOut(BaseModel):
    """What should follow a turn: go on, warn, finish, or ask a person."""

    action: TurnAction
    score: int
    signals: SignalsOut
    nudge: str | None
    reason: str
    question: str | None
    policy: PolicyStamp


class TurnOut(BaseModel):
    """What should follow a turn of a run; `nudge` is what to send the model."""

    run: Id
    action: TurnAction
    score: int
    signals: SignalsOut
    retries_used: int
    max_retries: int
    nudge: str | None
    reason: str
    review: ReviewReference | None
    policy: PolicyStamp
    receipt: Receipt


class GateVerdictOut(BaseModel):
    """The verdict on one gate of a check."""

    index: int
    passed: bool
    rationale: str


class VerdictReadingOut(BaseModel):
    """How a text was read as a verdict."""

    overall: Literal["PASS", "FAIL"]
    rationale: str
    per_gate: list[GateVerdictOut]
    form: str
