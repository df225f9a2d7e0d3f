"""The loop's current state, its switch, and its weekly figures."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

from common.fields import Id, Moment, Usd
from common.paging import ProjectQuery, QueryText
from ledger.schemas import PolicyStamp
from loop.schemas.fields import Slug
from reviews.schemas.fields import Body, ShortText


class WakeIn(Body):
    """Which project's loop is to run now."""

    project: Slug | None = None


class SwitchIn(Body):
    """Whether the loop is paused, and why."""

    paused: bool
    reason: ShortText = ""
    project: Slug | None = None


class SummaryQuery(ProjectQuery):
    """Without `week`, the current one."""

    week: QueryText | None = None


class CapOut(BaseModel):
    """How often an action was taken this hour, and how often it may be."""

    action: str
    used: int
    limit: int


class CostOut(BaseModel):
    """What models have cost today, in US dollars; a limit of null means no limit."""

    used: Usd
    limit: Usd | None


class LoopStateOut(BaseModel):
    """The loop's current state: its switch, its clock, its caps and its budget."""

    project: str
    run: Id | None
    paused: bool
    paused_by: str | None
    paused_reason: str
    paused_at: Moment | None
    decider: str
    heartbeat_at: Moment | None
    heartbeat_age_s: int | None
    heartbeat_s: int
    pending_signals: int
    oldest_pending_age_s: int | None
    caps: list[CapOut]
    cost_today: CostOut
    open_incidents: int
    policy: PolicyStamp


class SummaryEventsOut(BaseModel):
    """The events of a week, and what came of them."""

    emitted: int
    succeeded: int
    failed: int
    unreported: int


class SummaryApprovalsOut(BaseModel):
    """How people ruled on actions of the loop."""

    asked: int
    approved: int
    denied: Annotated[int, Field(description="including those that expired")]
    waiting: int


class SummaryShadowOut(BaseModel):
    """How often the model in shadow mode agreed with the rules."""

    asked: int
    agreed: int
    disagreed: int
    agreement: Annotated[
        float | None,
        Field(description="share of the decisions where both proposed something"),
    ]


class SummaryOut(BaseModel):
    """Decisions made in one week; approvals and reports as they are now."""

    project: str
    week: str
    begins: Moment
    ends: Moment
    decisions: int
    outcomes: Annotated[
        dict[str, dict[str, int]],
        Field(description="number of decisions, by action and then by outcome"),
    ]
    events: SummaryEventsOut
    cost_usd: Usd
    caps_hit: dict[str, int]
    approvals: SummaryApprovalsOut
    shadow: SummaryShadowOut
    median_decide_ms: int | None
