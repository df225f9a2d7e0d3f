"""Questions and answers about runs, as the API documents them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from accounts.paging import PageQuery, QueryText


class PolicyStamp(BaseModel):
    name: str
    version: int
    hash: str


class Receipt(BaseModel):
    """Keep it: it proves later that this entry stood in the ledger."""

    seq: int
    hash: str


class ReviewReference(BaseModel):
    id: str
    kind: str
    url: str


class BudgetPart(BaseModel):
    limit: int | None
    used: int
    remaining: int | None


class MoneyPart(BaseModel):
    limit: str | None
    used: str
    remaining: str | None


class BudgetOut(BaseModel):
    tokens: BudgetPart
    tool_calls: BudgetPart
    time_ms: BudgetPart
    cost_usd: MoneyPart


class RunOut(BaseModel):
    id: str
    project: str
    agent: str
    task: str
    intent: str
    model: str | None
    labels: dict[str, str]
    status: str
    status_reason: str | None
    policy: PolicyStamp
    budget: BudgetOut
    steps: int
    rework_steps: int
    last_step: int
    last_checkpoint_step: int
    open_reviews: list[ReviewReference]
    head: Receipt
    created_at: str
    updated_at: str
    finished_at: str | None
    url: str


class OutcomeEvaluationOut(BaseModel):
    """What is said about the outcome; null where nothing could be judged."""

    name: str
    passed: bool | None
    score: float | None
    message: str


class FinishedRunOut(RunOut):
    evaluations: list[OutcomeEvaluationOut]


class RunFilters(PageQuery):
    status: (
        Literal[
            "running",
            "paused",
            "stopped",
            "completed",
            "failed",
            "aborted",
            "abandoned",
        ]
        | None
    ) = None
    agent: Annotated[QueryText | None, Field(description="an agent's name")] = None
    intent: QueryText | None = None
    label: Annotated[QueryText | None, Field(description="name:value")] = None
    q: Annotated[QueryText | None, Field(description="words of the task")] = None


class RunPage(BaseModel):
    items: list[RunOut]
    next_cursor: str | None


class CheckpointOut(BaseModel):
    id: str
    run: str
    step: int
    label: str
    state: dict[str, Any]
    created_at: str


class SavedCheckpointOut(CheckpointOut):
    receipt: Receipt


class VerifyOut(BaseModel):
    ok: bool
    entries: int
    first_bad_seq: int | None
    reason: str | None
    head: Receipt


class ProblemItem(BaseModel):
    loc: list[str | int]
    message: str


class Problem(BaseModel):
    """application/problem+json, with named extras where they help."""

    type: str
    title: str
    status: int
    detail: str
    errors: list[ProblemItem] = []
