"""What the API of backtests takes and answers."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, StringConstraints, model_validator

from common.fields import Cursor, Id, Moment, When
from common.paging import PageQuery, QueryText
from reviews.policies.schemas import TEXT_LIMIT, Slug
from reviews.schemas.fields import Body

DECISIONS_LIMIT = 1_000_000


class BacktestIn(Body):
    """A document, a YAML text or the number of a stored version; and what to judge by it.

    `runs` is `policy` for the runs that were judged by this policy, `all` for every run.
    """

    document: dict[str, Any] | None = None
    yaml: Annotated[str, StringConstraints(max_length=TEXT_LIMIT)] | None = None
    version: Annotated[int, Field(ge=1, le=2**31 - 1)] | None = None
    since: When = Field(None, description="30 days before `until` if left out")
    until: When = Field(None, description="now if left out")
    agent: Annotated[str, StringConstraints(max_length=120)] | None = None
    run: Annotated[str, StringConstraints(max_length=64)] | None = None
    runs: Literal["policy", "all"] = "policy"
    limit: Annotated[int, Field(ge=1, le=DECISIONS_LIMIT)] | None = Field(
        None, description="at most so many decisions, the newest runs first"
    )
    project: Slug | None = None

    @model_validator(mode="after")
    def check_one_is_given(self) -> BacktestIn:
        given = (self.document, self.yaml, self.version)
        if sum(each is not None for each in given) != 1:
            raise ValueError("give one of document, yaml and version")
        return self


class BacktestStarted(BaseModel):
    """Ask for it by this id."""

    id: Id


class ProgressOut(BaseModel):
    """In entries of the ledger, which are read from the first one of each run on."""

    done: int
    total: int


class RuleChangeOut(BaseModel):
    """How many decisions a gate, or a rule of it, makes softer and stricter."""

    gate: str
    rule: str | None
    softer: int
    stricter: int


class AskedMoreOut(BaseModel):
    """How often people would be asked where they were not. A run that was asked about
    would have waited then: what came after it might not have come."""

    total: int
    runs: int = Field(0, description="in so many runs")
    run_aborted: int = Field(description="in runs that a person later aborted")


class AgreementOut(BaseModel):
    """How many changes people's rulings agree with, disagree with and do not speak of."""

    agree: int
    disagree: int
    silent: int
    asked_more: AskedMoreOut
    asked_less: dict[str, int] = Field(
        description="`total`, and of those how many each ruling; `no_ruling` is none"
    )


class ShortFindingOut(BaseModel):
    """What one gate says; `value` was compared with `limit` where it has one."""

    gate: str
    decision: str
    message: str
    value: float | None
    limit: float | None
    rule: str | None


class ShortJudgementOut(BaseModel):
    """What was decided, and the findings behind it, the deciding ones first."""

    decision: str
    findings: list[ShortFindingOut]


class BacktestItemOut(BaseModel):
    """A decision that comes out otherwise, with both judgements."""

    id: Id
    run: Id
    agent: str
    run_status: str
    seq: int
    at: Moment
    kind: Literal["step", "call", "check", "turn"]
    step: int
    subject: str
    gate: str
    rule: str | None
    move: str
    before: ShortJudgementOut
    after: ShortJudgementOut
    asks: Literal["more", "less"] | None
    people: Literal["agree", "disagree", "silent"]
    review: Id | None
    ruling: str | None


class BacktestItemPage(BaseModel):
    """Some of the decisions that change; `total` is how many the filters leave."""

    items: list[BacktestItemOut]
    next_cursor: Cursor
    total: int


class BacktestOut(BaseModel):
    """A backtest as it stands; while it runs, what was counted so far."""

    id: Id
    project: str
    policy: str
    version: int | None
    since: Moment
    until: Moment
    agent: str | None
    run: Id | None
    runs: Literal["policy", "all"]
    limit: int | None
    state: Literal["waiting", "running", "finished", "cancelled", "failed"]
    reason: str | None = Field(description="why it failed, in words")
    progress: ProgressOut
    by: str
    at: Moment
    started_at: Moment | None
    ended_at: Moment | None
    judged: int
    changed: int
    unknown: int
    unknown_reasons: dict[str, int]
    other_reasons: int = Field(description="the same decision, by other gates")
    runs_changed: int
    by_gate: dict[str, int]
    by_rule: list[RuleChangeOut]
    moves: dict[str, int]
    decisions: dict[str, dict[str, int]] = Field(
        description="everything that was judged, by kind and move, unchanged ones too"
    )
    would_have_asked: int
    would_not_have_asked: int
    agrees_with_people: AgreementOut
    examples: list[BacktestItemOut]


class ItemFilters(PageQuery):
    kind: Literal["step", "call", "check", "turn"] | None = None
    gate: QueryText | None = None
    rule: QueryText | None = None
    move: QueryText | None = None
    asks: Literal["more", "less"] | None = None
    people: Literal["agree", "disagree", "silent"] | None = None
