"""What agents send and get about runs, steps, checkpoints and decisions."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    Field,
    StringConstraints,
)

from common.fields import Id, Usd
from ledger.schemas import (
    PolicyStamp,
    Receipt,
    ReviewKindName,
    ReviewReference,
    RunStatus,
    SeverityName,
)
from reviews.agent_notes.schemas import AgentNoteOut
from reviews.schemas.fields import (
    BUDGET_MAX,
    SHORT,
    STEP_MAX,
    Amount,
    Body,
    Cleaned,
    Code,
    Intent,
    LabelName,
    LabelValue,
    LongText,
    Money,
    Reason,
    Redacted,
    Share,
    ShortText,
    StepNumber,
    redact_and_cut,
)
from reviews.schemas.reviews import BudgetIn, RulingOut


class RunIn(Body):
    """A task that an agent begins to work on. Only `task` is needed."""

    task: Annotated[str, StringConstraints(min_length=1, max_length=20_000), Redacted]
    intent: Intent = "general"
    model: Annotated[str, StringConstraints(max_length=200), redact_and_cut(200)] = ""
    policy: Annotated[str, StringConstraints(min_length=1, max_length=64)] = "default"
    budget: BudgetIn = Field(default_factory=BudgetIn)
    labels: Annotated[dict[LabelName, LabelValue], Field(max_length=32), Redacted] = {}
    parent_run: Code | None = None


class UncleanStepIn(Body):
    """A step whose texts nobody has searched for secrets yet."""

    number: StepNumber
    tokens: Amount
    tool_calls: Amount
    duration_ms: Amount = 0
    cost_usd: Money = "0"
    rework: bool = False
    checkpoint: bool = False
    coherence: Share | None = None
    uncertainty: Share | None = None
    # What is written as [] would be copied deeply, each time (bench steps).
    confidences: Annotated[list[Share], Field(max_length=100, default_factory=list)]
    intent: Intent | None = None
    summary: Annotated[str, SHORT] = ""
    signature: Annotated[str, SHORT] | None = None
    failed_calls: Amount | None = None


class StepIn(UncleanStepIn):
    """All amounts are of this step alone; the server sums."""

    confidences: Annotated[list[Share], Field(max_length=100)] = []
    summary: ShortText = ""
    signature: ShortText | None = None


class StepBatchIn(Body):
    """Steps in their order, each as it would be reported alone."""

    steps: Annotated[list[StepIn], Field(min_length=1, max_length=100)]


class CheckpointIn(Body):
    """The agent's own state at a step, at most 64 KiB of JSON."""

    step: Annotated[int, Field(ge=0, le=STEP_MAX)]
    label: Annotated[str, StringConstraints(max_length=200), redact_and_cut(200)] = ""
    state: dict[str, Any] = {}


class TestsIn(Body):
    """How the tests went, as the agent tells it."""

    ran: bool
    passed: Amount = 0
    failed: Amount = 0
    skipped: Amount = 0


class DiffIn(Body):
    """How much was changed."""

    lines_added: Amount = 0
    lines_removed: Amount = 0
    files_changed: Amount = 0


class ViolationIn(Body):
    """A rule that was broken on the way."""

    rule: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    severity: Literal["critical", "high", "medium", "low", "info"]
    description: Reason = ""
    auto_corrected: bool = False


class RecordViolationIn(ViolationIn):
    """The same, told at once."""

    rule: Annotated[
        str, StringConstraints(min_length=1, max_length=200), redact_and_cut(200)
    ]
    description: ShortText = ""


class ViolationOut(BaseModel):
    """A violation as it is stored, with the proof that it stands in the ledger."""

    run: Id
    rule: str
    severity: Literal["critical", "high", "medium", "low", "info"]
    description: str
    auto_corrected: bool
    receipt: Receipt


class FinishIn(Body):
    """How the run ends, and what came of it."""

    outcome: Literal["completed", "failed"]
    summary: LongText = ""
    tests: TestsIn | None = None
    diff: DiffIn | None = None
    rework_lines: Amount = 0
    files_touched: Annotated[list[LabelValue], Field(max_length=1_000), Redacted] = []
    tools_used: Annotated[list[LabelValue], Field(max_length=1_000), Redacted] = []
    violations: Annotated[list[ViolationIn], Field(max_length=1_000), Cleaned] = []


class ReviewIn(Body):
    """The agent asks in its own words."""

    kind: Literal["request", "question"]
    title: Annotated[
        str, StringConstraints(min_length=1, max_length=300), redact_and_cut(300)
    ]
    detail: LongText = ""
    options: Annotated[list[LabelValue], Field(max_length=20), Redacted] = []
    severity: Annotated[
        SeverityName | None,
        Field(
            description="up to what the policy lets agents ask; never less than usual"
        ),
    ] = None


class RemainingIn(Body):
    """What is left of a budget; null where there is no limit."""

    tokens: Annotated[int, Field(ge=-BUDGET_MAX, le=BUDGET_MAX)] | None = None
    tool_calls: Annotated[int, Field(ge=-BUDGET_MAX, le=BUDGET_MAX)] | None = None
    time_ms: Annotated[int, Field(ge=-BUDGET_MAX, le=BUDGET_MAX)] | None = None


class ContinueIn(Body):
    """The figures of a run that is kept elsewhere."""

    policy: Annotated[str, StringConstraints(min_length=1, max_length=64)] = "default"
    step_number: Annotated[int, Field(ge=0, le=STEP_MAX)]
    total_tokens_used: Annotated[int, Field(ge=0, le=BUDGET_MAX)] = 0
    total_tool_calls: Annotated[int, Field(ge=0, le=BUDGET_MAX)] = 0
    rework_count: Annotated[int, Field(ge=0, le=STEP_MAX)] = 0
    coherence_score: Share | None = None
    uncertainty_score: Share | None = None
    budget_remaining: RemainingIn = Field(default_factory=RemainingIn)
    last_checkpoint_step: Annotated[int, Field(ge=0, le=STEP_MAX)] = 0
    recent_step_tokens: Annotated[list[Amount], Field(max_length=10)] = []


StepDecision = Literal["stop", "pause", "throttle", "checkpoint", "continue"]
CallDecision = Literal["block", "require-confirmation", "warn", "allow"]


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
    allowance: Annotated[
        Id | None, Field(description="the allowance by which this paused nothing")
    ] = None


class RemainingOut(BaseModel):
    """What is left of the budget; null where there is no limit."""

    tokens: int | None
    tool_calls: int | None
    time_ms: int | None
    cost_usd: Usd | None


class MetricsOut(BaseModel):
    """The figures that a step was judged by. Steps stored by earlier versions have only
    the score that counted, not both."""

    budget_slope: float
    budget_slope_significant: bool
    rework_ratio: float
    rework_ratio_total: float
    steps_since_checkpoint: int
    steps_until_checkpoint: int
    coherence: float | None
    coherence_level: str | None
    coherence_source: str
    coherence_reported: float | None = None
    coherence_computed: float | None = None
    coherence_parts: CoherencePartsOut | None
    uncertainty: float | None
    uncertainty_level: str | None
    uncertainty_source: str
    uncertainty_reported: float | None = None
    uncertainty_computed: float | None = None
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


NotesOut = Annotated[
    list[AgentNoteOut],
    Field(description="what people wrote to the agent meanwhile, each once"),
]


class DecisionOut(ContinueEvaluationOut):
    """May the agent go on? Every gate that tripped is in `findings`."""

    run: Id
    step: int
    review: ReviewReference | None
    notes: NotesOut
    receipt: Receipt


class BatchOut(BaseModel):
    """The decisions on the steps that were taken, in their order."""

    decisions: list[DecisionOut]
    accepted: int


class WaitedReview(BaseModel):
    """The review that an agent waits for."""

    id: Id
    kind: ReviewKindName
    version: int


class DecisionStateOut(BaseModel):
    """What a person ruled, or that nobody has yet."""

    run: Id
    run_status: RunStatus
    state: Literal["none", "open", "ruled", "expired", "superseded", "withdrawn"]
    review: WaitedReview | None
    ruling: RulingOut | None
    notes: NotesOut
