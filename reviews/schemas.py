"""The bodies agents and people's programs send: strict, bounded, nothing unknown."""

from __future__ import annotations

import hashlib
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
)

from guidance.redactor import clean

# A thousand billion: no honest figure of one step is larger, and sums of a million
# such steps still fit a database integer.
AMOUNT_MAX = 10**12
BUDGET_MAX = 10**15
STEP_MAX = 2**31 - 1

Amount = Annotated[int, Field(ge=0, le=AMOUNT_MAX)]
Limit = Annotated[int, Field(ge=0, le=BUDGET_MAX)]
StepNumber = Annotated[int, Field(ge=1, le=STEP_MAX)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Money = Annotated[
    str, StringConstraints(pattern=r"^(0|[1-9][0-9]{0,8})(\.[0-9]{1,6})?$")
]
Code = Annotated[str, StringConstraints(min_length=36, max_length=36)]
Intent = Literal[
    "bug-fix",
    "feature",
    "refactor",
    "security",
    "performance",
    "testing",
    "docs",
    "deployment",
    "architecture",
    "debug",
    "general",
]
# An agent's own words are kept and shown to people: secrets in them are not.
Kept = AfterValidator(clean)
# Of a list or an object once for all of it: one by one costs a thousand times more.
Cleaned = BeforeValidator(clean)


def kept_within(limit: int) -> AfterValidator:
    """Kept where there is no more room: a label may be longer than its secret."""

    def fitted(text: str) -> str:
        cleaned = clean(text)
        return cleaned if len(cleaned) <= limit else cleaned[: limit - 1] + "…"

    return AfterValidator(fitted)


def kept_apart(limit: int) -> AfterValidator:
    """The same for a name that tells things apart: it is never cut to another one's."""

    def fitted(name: str) -> str:
        cleaned = clean(name)
        if len(cleaned) <= limit:
            return cleaned
        return f"sha256:{hashlib.sha256(cleaned.encode()).hexdigest()}"

    return AfterValidator(fitted)


LabelName = Annotated[str, StringConstraints(min_length=1, max_length=64)]
LabelValue = Annotated[str, StringConstraints(max_length=256)]
Said = Annotated[str, StringConstraints(max_length=4_000), Kept]
Told = Annotated[str, StringConstraints(max_length=20_000), Kept]
# What people write goes to the agent as it was written.
Reason = Annotated[str, StringConstraints(max_length=4_000)]
Text = Annotated[str, StringConstraints(max_length=20_000)]


class Body(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class BudgetIn(Body):
    """A part left out takes the policy's; null means unlimited."""

    tokens: Limit | None = None
    tool_calls: Limit | None = None
    time_ms: Limit | None = None
    cost_usd: Money | None = None


class RunIn(Body):
    """A task that an agent begins to work on. Only `task` is needed."""

    task: Annotated[str, StringConstraints(min_length=1, max_length=20_000), Kept]
    intent: Intent = "general"
    model: Annotated[str, StringConstraints(max_length=200), kept_within(200)] = ""
    policy: Annotated[str, StringConstraints(min_length=1, max_length=64)] = "default"
    budget: BudgetIn = Field(default_factory=BudgetIn)
    labels: Annotated[dict[LabelName, LabelValue], Field(max_length=32), Kept] = {}
    parent_run: Code | None = None


class StepIn(Body):
    """All amounts are of this step alone; the server sums."""

    number: StepNumber
    tokens: Amount
    tool_calls: Amount
    duration_ms: Amount = 0
    cost_usd: Money = "0"
    rework: bool = False
    checkpoint: bool = False
    coherence: Share | None = None
    uncertainty: Share | None = None
    confidences: Annotated[list[Share], Field(max_length=100)] = []
    intent: Intent | None = None
    summary: Said = ""
    signature: Said | None = None
    failed_calls: Amount | None = None


class StepBatchIn(Body):
    """Steps in their order, each as it would be reported alone."""

    steps: Annotated[list[StepIn], Field(min_length=1, max_length=100)]


class CheckpointIn(Body):
    """The agent's own state at a step, at most 64 KiB of JSON."""

    step: Annotated[int, Field(ge=0, le=STEP_MAX)]
    label: Annotated[str, StringConstraints(max_length=200), kept_within(200)] = ""
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


class FinishIn(Body):
    """How the run ends, and what came of it."""

    outcome: Literal["completed", "failed"]
    summary: Told = ""
    tests: TestsIn | None = None
    diff: DiffIn | None = None
    rework_lines: Amount = 0
    files_touched: Annotated[list[LabelValue], Field(max_length=1_000), Kept] = []
    tools_used: Annotated[list[LabelValue], Field(max_length=1_000), Kept] = []
    violations: Annotated[list[ViolationIn], Field(max_length=1_000), Cleaned] = []


class AbortIn(Body):
    """Why the run is ended by a person."""

    reason: Reason = ""


class ReopenIn(Body):
    """Why a stopped run may go on, and with how much more."""

    budget: BudgetIn = Field(default_factory=BudgetIn)
    reason: Annotated[str, StringConstraints(min_length=1, max_length=4_000)]


class ReviewIn(Body):
    """The agent asks in its own words."""

    kind: Literal["request", "question"]
    title: Annotated[
        str, StringConstraints(min_length=1, max_length=300), kept_within(300)
    ]
    detail: Told = ""
    options: Annotated[list[LabelValue], Field(max_length=20), Kept] = []


class RememberIn(Body):
    """Do not ask again: for this very call, or for calls of its shape."""

    scope: Literal["exact", "shape"]
    hours: Annotated[int, Field(ge=1, le=720)] = 8
    uses: Annotated[int, Field(ge=1, le=1_000)] = 50


class RulingIn(Body):
    """`version` and `content_digest` say what was seen: without them, no ruling."""

    action: Literal["approve", "abort", "deny", "answer", "retry", "skip", "amend"]
    version: StepNumber | None = None
    content_digest: Annotated[str, StringConstraints(max_length=100)] | None = None
    note: Text = ""
    answer: Text | None = None
    amended: dict[str, Any] | None = None
    remember: RememberIn | None = None


class CommentIn(Body):
    """A note for the other reviewers; agents do not see it."""

    text: Annotated[str, StringConstraints(min_length=1, max_length=20_000)]


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
