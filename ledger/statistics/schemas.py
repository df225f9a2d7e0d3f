"""What statistics take and answer."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from common.fields import Moment, Usd, When
from common.paging import ProjectQuery, QueryText


class PeriodQuery(ProjectQuery):
    """A period, widened to whole hours, and perhaps only some runs."""

    since: When = Field(None, description="30 days before `until` if left out")
    until: When = Field(None, description="now if left out")
    agent: Annotated[QueryText | None, Field(description="an agent's name")] = None
    model: QueryText | None = None
    label: Annotated[QueryText | None, Field(description="name:value")] = None


class GateQuery(PeriodQuery):
    interval: Literal["hour", "day", "week"] = "day"


class SpendCsvQuery(PeriodQuery):
    by: Annotated[
        QueryText, Field(description="agent, model, label:<name>, run or day")
    ] = "agent"


class SpendQuery(SpendCsvQuery):
    limit: Annotated[int, Field(ge=1, le=1_000)] = 200


class DecisionPoint(BaseModel):
    """What was decided in one hour, day or week (from Monday), in UTC."""

    at: Moment
    decisions: dict[str, int]


class GateStatistics(BaseModel):
    """Steps that were judged in a period, what was decided, and what gates found.

    `average_slope` is null where no step was judged.
    """

    since: Moment
    until: Moment
    counted_until: Moment | None
    evaluations: int
    decisions: dict[str, int]
    average_slope: float | None
    findings: Annotated[dict[str, int], Field(description="of steps, by gate")]
    paused_by: Annotated[
        dict[str, int], Field(description="steps that were paused, by gate")
    ]
    calls: Annotated[dict[str, int], Field(description="tool calls by decision")]
    call_findings: Annotated[dict[str, int], Field(description="of calls, by gate")]
    series: list[DecisionPoint]


class SpendItem(BaseModel):
    """What the runs behind one key used up. `task` and `agent` are told of runs alone."""

    key: str
    runs: int
    steps: int
    tokens: int
    tool_calls: int
    cost_usd: Usd
    task: str | None = None
    agent: str | None = None


class SpendSum(BaseModel):
    """All of the period, also what `limit` leaves out."""

    runs: int
    steps: int
    tokens: int
    tool_calls: int
    cost_usd: Usd


class SpendStatistics(BaseModel):
    """The most expensive first; days in their order."""

    since: Moment
    until: Moment
    counted_until: Moment | None
    by: str
    total: SpendSum
    items: list[SpendItem]
