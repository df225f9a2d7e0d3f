"""Answers about decisions and reviews, as the API documents them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from common.fields import Cursor, Id, Moment, Usd
from common.paging import PageQuery, QueryText
from ledger.schemas import (
    PolicyStamp,
    Receipt,
    ReviewKind,
    ReviewReference,
    RunStatus,
)

StepDecision = Literal["stop", "pause", "throttle", "checkpoint", "continue"]
CallDecision = Literal["block", "require-confirmation", "warn", "allow"]
ReviewState = Literal["open", "ruled", "expired", "superseded", "withdrawn"]
Action = Literal["approve", "abort", "deny", "answer", "retry", "skip", "amend"]


class CoherencePartsOut(BaseModel):
    """What the coherence was computed from, each from 0 to 1."""

    violations: float
    rework: float
    drift: float


class UncertaintyPartsOut(BaseModel):
    """What the uncertainty was computed from; null where nothing was known."""

    confidence: float | None
    failed_calls: float | None
    repeated: float | None


class FindingOut(BaseModel):
    """What one gate says of a step: what it found, and the limit it holds."""

    gate: str
    decision: StepDecision
    message: str
    value: float | int | None
    limit: float | int | None


class RemainingOut(BaseModel):
    """What is left of the budget; null where there is no limit."""

    tokens: int | None
    tool_calls: int | None
    time_ms: int | None
    cost_usd: Usd | None


class MetricsOut(BaseModel):
    """The figures that a step was judged by."""

    budget_slope: float
    budget_slope_significant: bool
    rework_ratio: float
    rework_ratio_total: float
    steps_since_checkpoint: int
    steps_until_checkpoint: int
    coherence: float | None
    coherence_level: str | None
    coherence_source: str
    coherence_parts: CoherencePartsOut | None
    uncertainty: float | None
    uncertainty_level: str | None
    uncertainty_source: str
    uncertainty_parts: UncertaintyPartsOut | None
    budget_remaining: RemainingOut
    not_evaluated: list[str]


class ContinueEvaluationOut(BaseModel):
    """What the continue gate says: may the agent go on?"""

    decision: StepDecision
    checkpoint_due: bool
    delay_ms: int
    findings: list[FindingOut]
    metrics: MetricsOut
    recommended_action: str
    policy: PolicyStamp


class DecisionOut(ContinueEvaluationOut):
    """May the agent go on? Every gate that tripped is in `findings`."""

    run: Id
    step: int
    review: ReviewReference | None
    receipt: Receipt


class BatchOut(BaseModel):
    """The decisions on the steps that were taken, in their order."""

    decisions: list[DecisionOut]
    accepted: int


class CallFindingOut(BaseModel):
    """What one gate says of a call, and what would mend it."""

    gate: str
    decision: CallDecision
    message: str
    remediation: str | None
    details: dict[str, Any]


class MatchOut(BaseModel):
    """Where an edit was found in the text, and how exactly it matched."""

    edit: int
    line: int
    column: int
    layer: str


class PreviewOut(BaseModel):
    """What the edits would make of the text."""

    diff: str
    result_sha256: str
    matches: list[MatchOut]


class CallEvaluationOut(BaseModel):
    """May this be done? Every finding of every gate is in `findings`."""

    decision: CallDecision
    findings: list[CallFindingOut]
    policy: PolicyStamp


class MultiEditEvaluationOut(CallEvaluationOut):
    """The same for several edits, with what they would do."""

    preview: PreviewOut | None


class ToolCallOut(MultiEditEvaluationOut):
    """`grant` is good for one claim of exactly this `digest`."""

    id: Id
    run: Id
    digest: str
    review: ReviewReference | None
    grant: Id | None
    grant_expires_at: Moment | None
    replayed: bool
    output: Any
    budget_remaining: RemainingOut
    receipt: Receipt


class StandingCallOut(BaseModel):
    """A call as it stands now; `call` is what may run."""

    id: Id
    run: Id
    kind: str
    tool: str
    decision: CallDecision
    state: str
    digest: str
    call: dict[str, Any]
    review: Id | None
    grant: Id | None
    grant_expires_at: Moment | None
    ok: bool | None


class ClaimOut(BaseModel):
    """`call` is what may run now, once: as asked for, or as a person changed it."""

    id: Id
    run: Id
    grant: Id
    digest: str
    kind: str
    tool: str
    call: dict[str, Any]
    claimed_at: Moment
    receipt: Receipt


class SettledOut(BaseModel):
    """The result is stored, and its amounts are added to the run."""

    id: Id
    run: Id
    ok: bool
    budget_remaining: RemainingOut
    receipt: Receipt


class PermissionOut(BaseModel):
    """What need not be asked again, until it ends or is taken back."""

    id: Id
    project: str
    scope: str
    tool: str
    covers: str
    rules: list[str]
    granted_by: str
    granted_at: Moment
    expires_at: Moment
    uses_left: int
    used: int
    last_used_at: Moment | None
    revoked_by: str | None
    revoked_at: Moment | None
    state: str
    review: Id
    run: Id


class PermissionPage(BaseModel):
    """A page of permissions, newest first."""

    items: list[PermissionOut]
    next_cursor: Cursor


class RulingOut(BaseModel):
    """What a person chose; `note`, `answer` and `amended` are for the agent."""

    id: Id
    action: Action
    note: str
    answer: Annotated[str | None, Field(description="to a question")]
    amended: Annotated[
        dict[str, Any] | None, Field(description="the call as a person changed it")
    ]
    by: str
    at: Moment
    grant: Annotated[Id | None, Field(description="for a call that may now run")]


class WaitedReview(BaseModel):
    """The review that an agent waits for."""

    id: Id
    kind: ReviewKind
    version: int


class DecisionStateOut(BaseModel):
    """What a person ruled, or that nobody has yet."""

    run: Id
    run_status: RunStatus
    state: Literal["none", "open", "ruled", "expired", "superseded", "withdrawn"]
    review: WaitedReview | None
    ruling: RulingOut | None


class WaitingOut(BaseModel):
    """Whether an agent waits for the ruling now, and when one was last seen waiting."""

    now: bool
    last_at: str | None


class ReviewOut(BaseModel):
    """What waits, or waited, for a person."""

    id: Id
    run: Id
    project: str
    agent: str
    kind: ReviewKind
    state: ReviewState
    title: str
    step: int | None
    content: dict[str, Any]
    content_digest: str
    version: int
    rulings: Annotated[list[Action], Field(description="what the caller may choose")]
    assignee: str | None
    opened_at: Moment
    due_at: Moment
    on_expiry: str
    closed_at: Moment | None
    ruling: RulingOut | None
    waiting: WaitingOut | None
    url: str


class HistoryItem(BaseModel):
    """One thing that was done with a review."""

    seq: int
    at: Moment
    type: str
    actor: str
    by: str | None
    taken_from: str | None
    text: str | None


class ReviewDetail(ReviewOut):
    """A review, with all that was done with it."""

    history: list[HistoryItem]


class ReviewFilters(PageQuery):
    state: ReviewState | None = None
    kind: ReviewKind | None = None
    run: QueryText | None = None
    assignee: Annotated[QueryText | None, Field(description="a user's name")] = None


class ReviewPage(BaseModel):
    """A page of reviews, newest first."""

    items: list[ReviewOut]
    next_cursor: Cursor
    total: Annotated[int, Field(description="how many the filters let in, in all")]
