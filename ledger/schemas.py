"""Questions and answers about runs, as the API documents them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from common.fields import Cursor, Id, Moment, Usd
from common.paging import PageQuery, QueryText
from guidance.core.vocabulary import INTENTS

RunStatus = Literal[
    "running", "paused", "stopped", "completed", "failed", "aborted", "abandoned"
]
ReviewKindName = Literal[
    "pause",
    "exhausted",
    "confirmation",
    "question",
    "request",
    "loop_action",
    "policy_change",
]


class PolicyStamp(BaseModel):
    """The policy that judged: its name, its version and the hash of its text."""

    name: str
    version: int
    hash: str


class Receipt(BaseModel):
    """Keep it: it proves later that this entry stood in the ledger."""

    seq: int
    hash: str


class ReviewReference(BaseModel):
    """A review that waits for a person, and where people see it."""

    id: Id
    kind: ReviewKindName
    url: str


class BudgetPart(BaseModel):
    """One part of a budget; a limit of null is none."""

    limit: int | None
    used: int
    remaining: int | None


class MoneyPart(BaseModel):
    """The money of a budget, in US dollars; a limit of null is none."""

    limit: Usd | None
    used: Usd
    remaining: Usd | None


class BudgetOut(BaseModel):
    """What a run may use, what it and all runs below it have used, and what is left."""

    tokens: BudgetPart
    tool_calls: BudgetPart
    time_ms: BudgetPart
    cost_usd: MoneyPart


class OutcomeEvaluationOut(BaseModel):
    """What one evaluator says of a finished run; null where nothing is known."""

    name: str
    passed: bool | None
    score: float | None
    source: Literal["seen", "reported", "both"] | None
    message: str
    details: dict[str, Any]


class ChildrenOut(BaseModel):
    """Runs that this one started itself; `running` ones may be paused."""

    running: int
    total: int


class RunOut(BaseModel):
    """One agent working on one task, as it stands now."""

    id: Id
    project: str
    agent: str
    parent_run: Annotated[Id | None, Field(description="the run that started it")]
    children: ChildrenOut
    task: str
    intent: str
    model: str | None
    labels: dict[str, str]
    status: RunStatus
    status_reason: str | None
    evaluations: list[OutcomeEvaluationOut]
    accepted: Annotated[
        bool | None,
        Field(description="true: all that is known passed; null: nothing is known"),
    ]
    policy: PolicyStamp
    budget: BudgetOut
    steps: int
    rework_steps: int
    last_step: int
    last_checkpoint_step: int
    open_reviews: list[ReviewReference]
    head: Receipt
    created_at: Moment
    updated_at: Moment
    finished_at: Moment | None
    url: str


class RunFilters(PageQuery):
    status: RunStatus | None = None
    accepted: Annotated[
        bool | None, Field(description="how finished runs were judged")
    ] = None
    agent: Annotated[QueryText | None, Field(description="an agent's name")] = None
    intent: Annotated[
        QueryText | None, Field(json_schema_extra={"enum": list(INTENTS)})
    ] = None
    label: Annotated[
        QueryText | None,
        Field(
            description="name:value",
            json_schema_extra={"pattern": r"^[^:\x00]+:[^\x00]*$"},
        ),
    ] = None
    parent: Annotated[
        QueryText | None, Field(description="a run's id: those that it started itself")
    ] = None
    q: Annotated[QueryText | None, Field(description="words of the task")] = None


class RunPage(BaseModel):
    """A page of runs, newest first."""

    items: list[RunOut]
    next_cursor: Cursor


class CheckpointOut(BaseModel):
    """An agent's state at a step, as the agent saved it."""

    id: Id
    run: Id
    step: int
    label: str
    state: dict[str, Any]
    created_at: Moment


class SavedCheckpointOut(CheckpointOut):
    """A checkpoint, with the proof that it stands in the ledger."""

    receipt: Receipt


class VerifyOut(BaseModel):
    """Whether the chain of a run is whole; if not, where it breaks first."""

    ok: bool
    entries: int
    first_bad_seq: int | None
    reason: str | None
    head: Receipt


class LedgerEntry(BaseModel):
    """One entry of a run's chain: one line of the ledger, the `data` of one event."""

    v: Annotated[int, Field(description="how the entry is hashed")]
    run: Id
    seq: Annotated[int, Field(description="1, 2, 3 … within the run")]
    at: Moment
    type: str
    actor: str
    payload: Annotated[Any, Field(description="what happened; its shape is the type's")]
    payload_sha256: str
    prev_hash: str
    hash: str


class LedgerEnd(BaseModel):
    """The `data` of the event `end`: the run is over, and this was its last entry."""

    run: Id
    status: RunStatus
    head: Receipt
