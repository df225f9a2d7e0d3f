"""Answers about decisions and reviews, as the API documents them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from accounts.paging import PageQuery, QueryText
from ledger.schemas import PolicyStamp, Receipt, ReviewReference


class FindingOut(BaseModel):
    gate: str
    decision: str
    message: str
    value: float | int | None
    limit: float | int | None


class RemainingOut(BaseModel):
    tokens: int | None
    tool_calls: int | None
    time_ms: int | None
    cost_usd: str | None


class MetricsOut(BaseModel):
    budget_slope: float
    budget_slope_significant: bool
    rework_ratio: float
    rework_ratio_total: float
    steps_since_checkpoint: int
    steps_until_checkpoint: int
    coherence: float | None
    coherence_level: str | None
    coherence_source: str
    uncertainty: float | None
    uncertainty_level: str | None
    uncertainty_source: str
    budget_remaining: RemainingOut
    not_evaluated: list[str]


class ContinueEvaluationOut(BaseModel):
    decision: str
    checkpoint_due: bool
    delay_ms: int
    findings: list[FindingOut]
    metrics: MetricsOut
    recommended_action: str


class DecisionOut(ContinueEvaluationOut):
    """May the agent go on? Every gate that tripped is in `findings`."""

    run: str
    step: int
    review: ReviewReference | None
    policy: PolicyStamp
    receipt: Receipt


class BatchOut(BaseModel):
    decisions: list[DecisionOut]
    accepted: int


class CallFindingOut(BaseModel):
    gate: str
    decision: str
    message: str
    remediation: str | None
    details: dict[str, Any]


class MatchOut(BaseModel):
    edit: int
    line: int
    column: int
    layer: str


class PreviewOut(BaseModel):
    diff: str
    result_sha256: str
    matches: list[MatchOut]


class CallEvaluationOut(BaseModel):
    """May this be done? Every finding of every gate is in `findings`."""

    decision: str
    findings: list[CallFindingOut]
    policy: PolicyStamp


class MultiEditEvaluationOut(CallEvaluationOut):
    preview: PreviewOut | None


class ToolCallOut(MultiEditEvaluationOut):
    """`grant` is good for one claim of exactly this `digest`."""

    id: str
    run: str
    digest: str
    review: ReviewReference | None
    grant: str | None
    grant_expires_at: str | None
    replayed: bool
    output: Any
    budget_remaining: RemainingOut
    receipt: Receipt


class StandingCallOut(BaseModel):
    id: str
    run: str
    kind: str
    tool: str
    decision: str
    state: str
    digest: str
    call: dict[str, Any]
    review: str | None
    grant: str | None
    grant_expires_at: str | None
    ok: bool | None


class ClaimOut(BaseModel):
    """`call` is what may run now, once: as asked for, or as a person changed it."""

    id: str
    run: str
    grant: str
    digest: str
    kind: str
    tool: str
    call: dict[str, Any]
    claimed_at: str
    receipt: Receipt


class SettledOut(BaseModel):
    id: str
    run: str
    ok: bool
    budget_remaining: RemainingOut
    receipt: Receipt


class PermissionOut(BaseModel):
    id: str
    project: str
    scope: str
    tool: str
    covers: str
    rules: list[str]
    granted_by: str
    granted_at: str
    expires_at: str
    uses_left: int
    used: int
    last_used_at: str | None
    revoked_by: str | None
    revoked_at: str | None
    state: str
    review: str
    run: str


class PermissionPage(BaseModel):
    items: list[PermissionOut]
    next_cursor: str | None


class RulingOut(BaseModel):
    id: str
    action: str
    note: str
    answer: str | None
    amended: dict[str, Any] | None
    by: str
    at: str
    grant: str | None


class WaitedReview(BaseModel):
    id: str
    kind: str
    version: int


class DecisionStateOut(BaseModel):
    run: str
    run_status: str
    state: str
    review: WaitedReview | None
    ruling: RulingOut | None


class WaitingOut(BaseModel):
    """Whether an agent waits for the ruling now, and when one was last seen waiting."""

    now: bool
    last_at: str | None


class ReviewOut(BaseModel):
    id: str
    run: str
    project: str
    agent: str
    kind: str
    state: str
    title: str
    step: int | None
    content: dict[str, Any]
    content_digest: str
    version: int
    rulings: list[str]
    assignee: str | None
    opened_at: str
    due_at: str
    on_expiry: str
    closed_at: str | None
    ruling: RulingOut | None
    waiting: WaitingOut | None
    url: str


class HistoryItem(BaseModel):
    seq: int
    at: str
    type: str
    actor: str
    by: str | None
    taken_from: str | None
    text: str | None


class ReviewDetail(ReviewOut):
    history: list[HistoryItem]


class ReviewFilters(PageQuery):
    state: Literal["open", "ruled", "expired", "superseded", "withdrawn"] | None = None
    kind: (
        Literal[
            "pause", "exhausted", "confirmation", "question", "request", "loop_action"
        ]
        | None
    ) = None
    run: QueryText | None = None
    assignee: Annotated[QueryText | None, Field(description="a user's name")] = None


class ReviewPage(BaseModel):
    items: list[ReviewOut]
    next_cursor: str | None
