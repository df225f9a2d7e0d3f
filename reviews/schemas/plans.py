"""What an agent plans to do, as it sends it and as a person amends it."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    Field,
    StringConstraints,
    model_validator,
)

from common.fields import Id, Moment, Usd
from guidance.core.money import parse_usd
from guidance.core.plans.paths import find_path_problem
from guidance.core.plans.proposal import (
    ALL_CALLS_LIMIT,
    CALLS_LIMIT,
    COUNT_LIMIT,
    HOUR_MS,
    PATHS_LIMIT,
    STEPS_LIMIT,
    TIME_LIMIT_MS,
    PlanLimits,
    Proposal,
    ProposedCall,
    ProposedStep,
)
from guidance.redactor import clean
from reviews.schemas.calls import ToolName
from reviews.schemas.fields import Body, Money, redact_and_cut

TEXT_LIMIT = 10_000


def _check_path(path: str) -> str:
    problem = find_path_problem(path)
    if problem is None and clean(path) != path:
        problem = "a path with a secret in it covers nothing"
    if problem is not None:
        raise ValueError(problem)
    return path


PlanText = Annotated[
    str, StringConstraints(min_length=1, max_length=300), redact_and_cut(300)
]
PlanPath = Annotated[
    str, StringConstraints(min_length=1, max_length=256), AfterValidator(_check_path)
]


class PlannedCallIn(Body):
    """A call that is planned: a command, or the arguments of a tool."""

    tool: ToolName
    command: (
        Annotated[str, StringConstraints(min_length=1, max_length=TEXT_LIMIT)] | None
    ) = None
    arguments: dict[str, Any] | None = None
    shape: Annotated[
        str | None,
        StringConstraints(max_length=TEXT_LIMIT),
        Field(
            description="left out: exactly this call; `shape`, or the shape itself: also "
            "calls that differ in numbers and ids that are part of a name"
        ),
    ] = None
    count: Annotated[int, Field(ge=1, le=COUNT_LIMIT)] = 1

    @model_validator(mode="after")
    def _require_one_form(self) -> Self:
        if (self.command is None) == (self.arguments is None):
            raise ValueError("send command or arguments, one of them")
        return self

    def build_proposed(self) -> ProposedCall:
        return ProposedCall(
            tool=self.tool,
            command=self.command,
            arguments=self.arguments,
            shape=self.shape or "",
            count=self.count,
        )


class PlannedStepIn(Body):
    """What a step is for, the calls it takes, and below which paths they stay."""

    purpose: PlanText
    calls: Annotated[list[PlannedCallIn], Field(min_length=1, max_length=CALLS_LIMIT)]
    paths: Annotated[
        list[PlanPath],
        Field(max_length=PATHS_LIMIT, description="none: wherever its calls say"),
    ] = []


class PlanLimitsIn(Body):
    """How far the whole plan goes. What is left out: every call as often as it is planned,
    one hour, and no limit of cost but the run's own."""

    tool_calls: Annotated[int, Field(ge=1, le=ALL_CALLS_LIMIT * COUNT_LIMIT)] | None = (
        None
    )
    cost_usd: Money | None = None
    time_ms: Annotated[int, Field(ge=1_000, le=TIME_LIMIT_MS)] | None = None


class PlanIn(Body):
    """Calls that an agent asks for once, instead of one by one."""

    title: PlanText
    steps: Annotated[list[PlannedStepIn], Field(min_length=1, max_length=STEPS_LIMIT)]
    limits: PlanLimitsIn = Field(default_factory=PlanLimitsIn)

    @model_validator(mode="after")
    def _limit_calls(self) -> Self:
        if sum(len(step.calls) for step in self.steps) > ALL_CALLS_LIMIT:
            raise ValueError(f"a plan names at most {ALL_CALLS_LIMIT} calls")
        return self

    def build_proposal(self) -> Proposal:
        planned = sum(call.count for step in self.steps for call in step.calls)
        cost = self.limits.cost_usd
        return Proposal(
            title=self.title,
            steps=tuple(
                ProposedStep(
                    purpose=step.purpose,
                    calls=tuple(call.build_proposed() for call in step.calls),
                    paths=tuple(step.paths),
                )
                for step in self.steps
            ),
            limits=PlanLimits(
                tool_calls=min(self.limits.tool_calls or planned, planned),
                time_ms=self.limits.time_ms or HOUR_MS,
                cost_micros=None if cost is None else parse_usd(cost),
            ),
        )


class PlannedCallOut(BaseModel):
    """A call of a plan, and what was used of it."""

    number: int
    tool: str
    text: Annotated[str, Field(description="the command, or tool and arguments")]
    scope: Literal["exact", "shape"]
    rules: Annotated[list[str], Field(description="what it asks no more about")]
    covered: Annotated[bool, Field(description="false: it asks as without the plan")]
    planned: int
    used: int
    left: int


class PlanStepOut(BaseModel):
    """A step of a plan: its scope in words, and how far it has come."""

    number: int
    purpose: str
    paths: list[str]
    scope: list[str]
    calls: list[PlannedCallOut]
    planned: int
    used: int
    left: int


class PlanLimitsOut(BaseModel):
    """How far the whole plan goes; null: no limit of cost but the run's own."""

    tool_calls: int
    time_ms: int
    cost_usd: Usd | None


class PlanOut(BaseModel):
    """A plan as it stands; amended, it is the plan as it was approved."""

    id: Id
    run: Id
    review: Id
    title: str
    state: Annotated[
        Literal[
            "submitted",
            "standing",
            "denied",
            "aborted",
            "expired",
            "superseded",
            "withdrawn",
            "used",
            "calls",
            "cost",
            "time",
            "replaced",
            "run_ended",
        ],
        Field(description="`standing`, or why it covers nothing"),
    ]
    amended: bool
    steps: list[PlanStepOut]
    limits: PlanLimitsOut
    calls_outside: Annotated[
        int, Field(description="calls since the approval that it does not cover")
    ]
    submitted_at: Moment
    approved_at: Moment | None
    approved_by: str | None
    ends_at: Moment | None
    ended_at: Moment | None


class PlanList(BaseModel):
    """The plans of a run, the newest first."""

    items: list[PlanOut]
