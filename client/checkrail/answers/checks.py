"""Answers about gate checks and turns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from checkrail.answers.common import PolicyStamp, Receipt, ReviewRef
from checkrail.answers.parsing import Answer
from checkrail.answers.reviews import Ruling

TurnAction = Literal["auto_continue", "warn", "finish", "needs_human", "in_progress"]
# `skipped` is said by this client, after a person chose so.
CheckOutcome = Literal["passed", "retry", "warned", "logged", "exhausted", "skipped"]


@dataclass(frozen=True, kw_only=True)
class AdvisoryWarning(Answer):
    """What an advisory gate said, until a person has acknowledged it."""

    id: str
    check: str
    text: str


@dataclass(frozen=True, kw_only=True)
class GateCheckState(Answer):
    """A check as it stands; `prompt` is what to put to the model."""

    id: str
    gates: tuple[str, ...]
    enforcement_mode: str
    attempt: int
    max_attempts: int
    prompt: str | None
    status: str = ""
    attempts_left: int | None = None
    previous_feedback: str | None = None
    guidance: str | None = None
    advisory_warnings: tuple[AdvisoryWarning, ...] = ()
    run: str = ""
    step: int | None = None
    review: ReviewRef | None = None
    receipt: Receipt | None = None


@dataclass(frozen=True, kw_only=True)
class GateOutcome(Answer):
    """What came of a verdict; `ruling` where a person had to choose."""

    outcome: CheckOutcome
    attempt: int
    max_attempts: int
    attempts_left: int
    id: str = ""
    run: str = ""
    status: str = ""
    gates: tuple[str, ...] = ()
    enforcement_mode: str = ""
    hints: tuple[str, ...] = ()
    unproven: tuple[str, ...] = ()
    previous_feedback: str | None = None
    advisory_warnings: tuple[AdvisoryWarning, ...] = ()
    prompt: str | None = None
    review: ReviewRef | None = None
    receipt: Receipt | None = None
    ruling: Ruling | None = None

    @property
    def passed(self) -> bool:
        return self.outcome == "passed"


@dataclass(frozen=True, kw_only=True)
class TurnSignals(Answer):
    finish_reason: int = 0
    last_event: int = 0
    content_intent: int = 0
    no_summary: int = 0
    tool_ratio: int = 0


@dataclass(frozen=True, kw_only=True)
class TurnEvaluation(Answer):
    action: TurnAction
    score: int
    signals: TurnSignals
    nudge: str | None = None
    reason: str = ""
    question: str | None = None
    policy: PolicyStamp | None = None


@dataclass(frozen=True, kw_only=True)
class Turn(Answer):
    """Is the agent done? `answer` and `ruling` are there once a person was waited for."""

    action: TurnAction
    score: int
    signals: TurnSignals
    retries_used: int
    max_retries: int
    run: str = ""
    nudge: str | None = None
    reason: str = ""
    policy: PolicyStamp | None = None
    receipt: Receipt | None = None
    review: ReviewRef | None = None
    answer: str | None = None
    ruling: Ruling | None = None


@dataclass(frozen=True, kw_only=True)
class GateVerdict(Answer):
    index: int
    passed: bool
    rationale: str


@dataclass(frozen=True, kw_only=True)
class VerdictReading(Answer):
    """How a text is read as a verdict."""

    overall: Literal["PASS", "FAIL"]
    rationale: str
    per_gate: tuple[GateVerdict, ...] = ()
    form: str = ""
