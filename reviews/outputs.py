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


class EvaluationOut(BaseModel):
    decision: str
    checkpoint_due: bool
    delay_ms: int
    findings: list[FindingOut]
    metrics: MetricsOut
    recommended_action: str


class DecisionOut(EvaluationOut):
    """May the agent go on? Every gate that tripped is in `findings`."""

    run: str
    step: int
    review: ReviewReference | None
    policy: PolicyStamp
    receipt: Receipt


class BatchOut(BaseModel):
    decisions: list[DecisionOut]
    accepted: int


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


class StandingOut(BaseModel):
    run: str
    run_status: str
    state: str
    review: WaitedReview | None
    ruling: RulingOut | None


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
    url: str


class HistoryItem(BaseModel):
    seq: int
    at: str
    type: str
    actor: str
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
