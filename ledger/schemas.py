"""Questions and answers about runs, as the API documents them."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, Field, StringConstraints

from common.fields import Cursor, Id, Moment, Usd, When
from common.paging import PageQuery, QueryText
from guidance.core.money import AMOUNT_PATTERN
from guidance.core.vocabulary import INTENTS

RunStatus = Literal[
    "running", "paused", "stopped", "completed", "failed", "aborted", "abandoned"
]
# What `GET /runs` takes for a status, and for how a run was judged.
STATUS_FILTERS: dict[str, tuple[str, ...]] = {
    **{status: (status,) for status in get_args(RunStatus)},
    "final": ("completed", "failed", "aborted", "abandoned"),
}
ACCEPTED = {"true": True, "false": False}
RunSort = Literal[
    "started",
    "-started",
    "cost",
    "-cost",
    "tokens",
    "-tokens",
    "steps",
    "-steps",
    "time",
    "-time",
]
# How many values one parameter takes.
VALUES_LIMIT = 50
ReviewKindName = Literal[
    "pause",
    "exhausted",
    "confirmation",
    "question",
    "request",
    "loop_action",
    "policy_change",
    "plan",
]
SeverityName = Literal["critical", "high", "medium", "low"]


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


class AllowanceOut(BaseModel):
    """What the run need not ask about again, as a person has allowed."""

    id: Id
    gate: Annotated[str, Field(description="whose pause it turns into going on")]
    up_to: Annotated[float, Field(description="a higher value asks again")]
    steps: Annotated[int, Field(description="for so many it was given")]
    steps_left: int
    ends_at: Annotated[Moment, Field(description="then it ends in any case")]
    given_at: Moment
    by: str | None
    review: Annotated[Id, Field(description="the one it was given on")]


class ListedRun(BaseModel):
    """One agent working on one task, as lists have it."""

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


class RunOut(ListedRun):
    """One agent working on one task, as it stands now."""

    allowances: Annotated[
        list[AllowanceOut], Field(description="those that have not ended")
    ]


class RunExportFilters(BaseModel):
    """A parameter that is given several times means any of its values."""

    status: Annotated[
        list[
            Annotated[QueryText, Field(json_schema_extra={"enum": [*STATUS_FILTERS]})]
        ],
        Field(max_length=VALUES_LIMIT, description="`final` is all that are over"),
    ] = []
    accepted: Annotated[
        list[Annotated[QueryText, Field(json_schema_extra={"enum": [*ACCEPTED]})]],
        Field(max_length=VALUES_LIMIT, description="how finished runs were judged"),
    ] = []
    agent: Annotated[
        list[QueryText], Field(max_length=VALUES_LIMIT, description="an agent's name")
    ] = []
    intent: Annotated[
        list[Annotated[QueryText, Field(json_schema_extra={"enum": list(INTENTS)})]],
        Field(max_length=VALUES_LIMIT),
    ] = []
    model: Annotated[
        list[QueryText],
        Field(max_length=VALUES_LIMIT, description="a model, as the agent named it"),
    ] = []
    policy: Annotated[
        list[QueryText],
        Field(max_length=VALUES_LIMIT, description="a name, or name@version"),
    ] = []
    label: Annotated[
        list[
            Annotated[
                QueryText, Field(json_schema_extra={"pattern": r"^[^:\x00]+:[^\x00]*$"})
            ]
        ],
        Field(max_length=VALUES_LIMIT, description="name:value"),
    ] = []
    parent: Annotated[
        list[QueryText],
        Field(
            max_length=VALUES_LIMIT,
            description="a run's id: those that it started itself",
        ),
    ] = []
    since: When = Field(None, description="runs that began then or later")
    until: When = Field(None, description="runs that began before")
    min_cost: Annotated[
        str | None,
        StringConstraints(pattern=rf"^{AMOUNT_PATTERN}$"),
        Field(description="US dollars: runs that have cost so much or more"),
    ] = None
    q: Annotated[
        QueryText | None,
        Field(description="words of task, agent, id, labels, model, steps and calls"),
    ] = None
    sort: Annotated[
        RunSort,
        Field(description="`-` for the largest or newest first"),
    ] = "-started"


class RunFilters(PageQuery, RunExportFilters):
    """The same, page by page."""


class RunPage(BaseModel):
    """A page of runs, the newest first unless `sort` says otherwise."""

    items: list[ListedRun]
    next_cursor: Cursor
    previous_cursor: Annotated[
        str | None,
        Field(description="`cursor` of the page before; null where this is the first"),
    ]


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
