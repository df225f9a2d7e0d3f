"""What statistics take and answer."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

from common.fields import Moment, When
from common.paging import ProjectQuery, QueryText
from ledger.statistics.schemas import PeriodQuery


class RuleQuery(ProjectQuery):
    """A time, and perhaps one agent."""

    since: When = Field(None, description="30 days before `until` if left out")
    until: When = Field(None, description="now if left out")
    agent: Annotated[QueryText | None, Field(description="an agent's name")] = None
    limit: Annotated[int, Field(ge=1, le=200)] = 50


class ReviewQuery(PeriodQuery):
    """A period, widened to whole hours, and perhaps only some runs."""


class RulingTimes(BaseModel):
    """Milliseconds from the opening of a review to the ruling, of half of them (`p50`), of
    90 and of 99 in a hundred; null where nothing was ruled."""

    p50: int | None
    p90: int | None
    p99: int | None


class ReviewKindFigures(BaseModel):
    """What became of the reviews of one kind."""

    opened: int
    ruled: dict[str, int]
    expired: int
    time_to_ruling_ms: RulingTimes


class AskingRule(BaseModel):
    """How often a rule made a person be asked about a call, and how that ended."""

    asked: int
    approved: int
    amended: int
    denied: int
    aborted: int
    expired: int


class Interruptions(BaseModel):
    """How often agents put something before a person, for each hour that their runs were
    running by the server's clock; null where none was."""

    reviews: int
    agent_hours: float
    per_agent_hour: float | None


class NotAsked(BaseModel):
    """What needed no look of a person: calls that a standing permission, an approved plan
    or a model answered, and reviews that were ruled on with one that is alike."""

    permission: int
    plan: int
    model: int
    folded: int


class GateDisagreement(BaseModel):
    """Rulings on calls. `share` is of those that were changed or denied; null where
    nothing was ruled."""

    ruled: int
    approved: int
    changed: int
    denied: int
    share: float | None


class ModelDisagreement(BaseModel):
    """Rulings on calls that a model had answered, which the person was not told.
    `too_lenient` it would have allowed, `too_strict` it would have denied."""

    compared: int
    too_lenient: int
    too_strict: int
    share: float | None


class Disagreement(BaseModel):
    """How often people ruled otherwise than asked, and otherwise than a model."""

    with_gates: GateDisagreement
    with_model: ModelDisagreement


class ReviewStatistics(BaseModel):
    """Reviews of a period: opened, ruled on by action, expired, and how long people took."""

    since: Moment
    until: Moment
    counted_until: Moment | None
    opened: int
    ruled: dict[str, int]
    expired: int
    time_to_ruling_ms: RulingTimes
    by_kind: dict[str, ReviewKindFigures]
    by_rule: dict[str, AskingRule]
    interruptions: Interruptions
    not_asked: NotAsked
    disagreement: Disagreement


class RankedRule(BaseModel):
    """A rule that was broken: how often, how severely, and how much rework its runs had."""

    rule: str
    count: int
    runs: int
    severities: dict[str, int]
    auto_corrected: int
    mean_rework_lines: float
    score: float


class RuleStatistics(BaseModel):
    """Violations of a period, and the rules by what they cost, most first."""

    since: Moment
    until: Moment
    runs: int
    violations: int
    violations_per_ten_runs: float
    self_corrected: Annotated[
        float, Field(description="share of those that agents told of")
    ]
    finished: int
    judged: int
    accepted: int
    mean_rework_lines: float
    rules: list[RankedRule]
