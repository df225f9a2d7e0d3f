"""What the API takes and answers about limits that runs share."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field, StringConstraints

from common.fields import Cursor, Usd
from common.paging import PageQuery, ProjectQuery
from reviews.policies.schemas import ActedVersionOut, PolicyName, Slug
from reviews.schemas.exemptions import GivenReason
from reviews.schemas.fields import AMOUNT_MAX, Body, Money

Scope = Literal["agent_day", "project_day", "project_month"]
More = Annotated[int, Field(ge=1, le=AMOUNT_MAX)]
AgentName = Annotated[str, StringConstraints(min_length=1, max_length=120)]


class LimitQuery(ProjectQuery, PageQuery):
    """`limit` counts agents."""


class CountedUse(BaseModel):
    """`limit` holds now: with `extra`, which was given on top for this day or month; null
    where nothing is limited. `share` is the part of it that is used."""

    limit: int | None
    extra: int
    used: int
    share: float | None


class PaidUse(BaseModel):
    """The same in money."""

    limit: Usd | None
    extra: Usd
    used: Usd
    share: float | None


class LimitOut(BaseModel):
    """What all runs of an agent or a project have used of the limits of a policy, or of the
    agent's own; `share` is that of the part nearest to its limit. `period` is a day or a month in UTC."""

    scope: Scope
    agent: str | None
    period: str
    policy: Annotated[str | None, Field(description="null where no policy limits it")]
    own: Annotated[
        bool,
        Field(
            description="whether the agent has limits of its own: the stricter holds"
        ),
    ]
    tokens: CountedUse
    tool_calls: CountedUse
    cost_usd: PaidUse
    share: float | None


class LimitPage(BaseModel):
    """The project first, then agents that have used something today."""

    items: list[LimitOut]
    next_cursor: Cursor


class RaiseIn(Body):
    """So much more of a limit. It counts for the day or month that it is, in UTC; with
    `for_good` it becomes the next version of `policy`, which is then put in force, also for
    runs in progress: of an agent's day for every agent."""

    scope: Scope
    agent: AgentName | None = None
    tokens: More | None = None
    tool_calls: More | None = None
    cost_usd: Money | None = None
    reason: GivenReason
    for_good: bool = False
    policy: PolicyName = "default"
    project: Slug | None = None


class RaisedOut(BaseModel):
    """The limits as they are now; for good, also the version that says so, with the review
    of a second manager if it waits for one."""

    items: list[LimitOut]
    version: ActedVersionOut | None
