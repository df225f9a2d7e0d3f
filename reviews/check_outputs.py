"""Answers about gate checks and turns, as the API documents them."""

from __future__ import annotations

from pydantic import BaseModel

from ledger.schemas import PolicyStamp, Receipt, ReviewReference


class WarningOut(BaseModel):
    """What an advisory gate said, until a person has acknowledged it."""

    id: str
    check: str
    text: str


class StandingCheck(BaseModel):
    id: str
    run: str
    status: str
    gates: list[str]
    enforcement_mode: str
    attempt: int
    max_attempts: int
    attempts_left: int
    previous_feedback: str | None
    prompt: str | None
    advisory_warnings: list[WarningOut]


class OpenedCheckOut(StandingCheck):
    receipt: Receipt


class CheckOut(StandingCheck):
    """`guidance` is what a reviewer said when they had the check begin anew."""

    step: int
    guidance: str | None
    review: ReviewReference | None


class VerdictOut(StandingCheck):
    """`unproven` are criteria whose verifier has not passed: a PASS needs all of them."""

    outcome: str
    hints: list[str]
    unproven: list[str]
    review: ReviewReference | None
    receipt: Receipt


class SignalsOut(BaseModel):
    finish_reason: int
    last_event: int
    content_intent: int
    no_summary: int
    tool_ratio: int


class TurnEvaluationOut(BaseModel):
    action: str
    score: int
    signals: SignalsOut
    nudge: str | None
    reason: str
    question: str | None
    policy: PolicyStamp


class TurnOut(BaseModel):
    run: str
    action: str
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
    index: int
    passed: bool
    rationale: str


class VerdictReadingOut(BaseModel):
    overall: str
    rationale: str
    per_gate: list[GateVerdictOut]
    form: str
