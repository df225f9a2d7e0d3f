"""What agents send and get about gate checks, verdicts and turns."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, StringConstraints

from common.fields import Id
from ledger.schemas import PolicyStamp, Receipt, ReviewReference
from reviews.schemas.calls import PolicyName
from reviews.schemas.fields import STEP_MAX, Amount, Body, Redacted, Share, ShortText

GateId = Annotated[str, StringConstraints(max_length=64)]
Content = Annotated[str, Redacted]


class GateCheckIn(Body):
    """Gates of the policy by their ids, and gates that the check brings itself.

    `step` left out is the last one reported.
    """

    step: Annotated[int, Field(ge=0, le=STEP_MAX)] | None = None
    gates: Annotated[list[GateId], Field(max_length=50)] = []
    inline: Annotated[list[dict[str, Any]], Field(max_length=50), Redacted] = []


class VerdictIn(Body):
    """An object with overall, rationale and per_gate, or the same as text.

    `evidence` are results of commands that criteria ask for; `output` is the work that
    a judge is shown.
    """

    overall: Literal["PASS", "FAIL"] | None = None
    rationale: str | None = None
    per_gate: list[dict[str, Any]] | None = None
    text: str | None = None
    evidence: Annotated[list[dict[str, Any]], Field(max_length=100)] = []
    output: Content = ""


class TurnBody(Body):
    """How a turn of the model ended."""

    finish_reason: Literal["stop", "tool_calls", "length", "content_filter"] | None = (
        None
    )
    tool_calls: Amount = 0
    last_event: Literal["tool_result", "assistant", "user"] = "assistant"
    content: Content = ""
    pending_todos: Amount = 0


class TurnIn(TurnBody):
    """`tool_signature` tells turns that call the same again."""

    tool_signature: ShortText | None = None


class EvaluateTurnIn(TurnBody):
    """How a turn of the model ended, and the policy to judge it by."""

    policy: PolicyName = "default"
    model: Annotated[str, StringConstraints(max_length=200)] = ""
    recent_tool_ratio: Share = 0.0


class EvaluateVerdictIn(Body):
    """A text that is meant as a verdict."""

    text: str


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
