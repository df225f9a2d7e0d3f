"""What statistics take and answer."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

from common.fields import Moment
from common.paging import ProjectQuery, QueryText
from reviews.policies.backtest.schemas import When


class RuleQuery(ProjectQuery):
    """A time, and perhaps one agent."""

    since: When = Field(None, description="30 days before `until` if left out")
    until: When = Field(None, description="now if left out")
    agent: Annotated[QueryText | None, Field(description="an agent's name")] = None
    limit: Annotated[int, Field(ge=1, le=200)] = 50


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
