"""What the loop's doors answer, as the API documents it."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field

from common.fields import Cursor, Id, Moment, Usd
from ledger.schemas import PolicyStamp, ReviewReference


class AcceptedOut(BaseModel):
    """The decision has its id from now on; it is there once it is made."""

    signal: Id
    decision_id: Id


class MeasuredOut(BaseModel):
    """One thing that was looked at, and when."""

    value: Any
    at: Moment
    stale: bool


class SnapshotOut(BaseModel):
    """The project as the loop saw it when it decided."""

    note_queue_length: MeasuredOut
    recent_log_entries: MeasuredOut
    pending_recommendations: MeasuredOut
    active_runs: MeasuredOut
    half_done: MeasuredOut


class GuardrailOut(BaseModel):
    """A limit that kept the loop from what it wanted."""

    rail: str
    message: str
    value: int | str | None
    limit: int | str | None


class TriggerOut(BaseModel):
    """What made the loop look."""

    type: str
    signal: Id
    data: dict[str, Any]
    received_at: Moment


class EventOut(BaseModel):
    """What subscribers get: by webhook as `loop.event`, and in the ledger."""

    type: str
    action: str
    kind: str | None
    parameters: dict[str, Any]
    decision_id: Id
    reasoning_summary: str
    state_hash: str
    trigger_source: str
    at: Moment


class LoopDecisionOut(BaseModel):
    """One decision of the loop, with all it was made on."""

    decision_id: Id
    project: str
    trigger_source: str
    trigger: TriggerOut
    snapshot: SnapshotOut
    state_hash: str
    decider: str
    action: str
    reasoning_summary: str
    outcome: str
    event: EventOut | None
    approval_required: bool
    review: ReviewReference | None
    guardrails: list[GuardrailOut]
    shadow: Annotated[
        dict[str, Any] | None, Field(description="what a model wanted on paper")
    ]
    cost_usd: Usd
    report: Annotated[
        dict[str, Any] | None, Field(description="what came of the event")
    ]
    decided_at: Moment
    resolved_at: Moment | None
    policy: PolicyStamp
    run: Annotated[str, Field(description="the run that keeps the loop's decisions")]
    seq: int


class LoopDecisionPage(BaseModel):
    """A page of decisions, newest first."""

    items: list[LoopDecisionOut]
    next_cursor: Cursor


class NoteOut(BaseModel):
    """A note in the queue of the loop."""

    id: Id
    text: str
    data: dict[str, Any]
    state: str
    decision_id: Id | None
    claims: int
    claimed_until: Moment | None
    reason: str
    created_at: Moment
    ended_at: Moment | None


class NotePage(BaseModel):
    """A page of notes, newest first."""

    items: list[NoteOut]
    next_cursor: Cursor


class RecommendationOut(BaseModel):
    """A change that was recommended, and what became of it."""

    id: Id
    title: str
    detail: str
    change: dict[str, Any]
    state: str
    decision_id: Id | None
    draft: dict[str, Any] | None
    evidence: Annotated[
        dict[str, Any] | None, Field(description="the counts it was learned from")
    ]
    created_at: Moment
    ended_at: Moment | None


class RecommendationPage(BaseModel):
    """A page of recommendations, newest first."""

    items: list[RecommendationOut]
    next_cursor: Cursor


class IncidentOut(BaseModel):
    """A condition that holds, or held, from when to when."""

    id: Id
    condition: str
    state: str
    severity: str
    title: str
    detail: str
    joins: int
    decision_id: Id
    previous: Id | None
    opened_at: Moment
    seen_at: Moment
    changed_at: Moment | None
    resolved_at: Moment | None


class IncidentPage(BaseModel):
    """A page of incidents, newest first."""

    items: list[IncidentOut]
    next_cursor: Cursor


class CapOut(BaseModel):
    """How often an action was taken this hour, and how often it may be."""

    action: str
    used: int
    limit: int


class CostOut(BaseModel):
    """What models have cost today, in US dollars; a limit of null is none."""

    used: Usd
    limit: Usd | None


class LoopStateOut(BaseModel):
    """How the loop stands: its switch, its clock, its caps and its budget."""

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
    denied: Annotated[int, Field(description="expired ones among them")]
    waiting: int


class SummaryShadowOut(BaseModel):
    """How often a model that is only listened to agreed."""

    asked: int
    agreed: int
    disagreed: int
    agreement: Annotated[
        float | None, Field(description="of the times that both wanted something")
    ]


class SummaryOut(BaseModel):
    """A week of the loop, by when it decided; what followed as it stands now."""

    project: str
    week: str
    begins: Moment
    ends: Moment
    decisions: int
    outcomes: Annotated[
        dict[str, dict[str, int]],
        Field(description="how many decisions, by action and then by outcome"),
    ]
    events: SummaryEventsOut
    cost_usd: Usd
    caps_hit: dict[str, int]
    approvals: SummaryApprovalsOut
    shadow: SummaryShadowOut
    median_decide_ms: int | None
