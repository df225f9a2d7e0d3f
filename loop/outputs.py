"""What the loop's doors answer, as the API documents it."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field

from ledger.schemas import PolicyStamp, ReviewReference


class AcceptedOut(BaseModel):
    """The decision has its id from now on; it is there once it is made."""

    signal: str
    decision_id: str


class MeasuredOut(BaseModel):
    value: Any
    at: str
    stale: bool


class SnapshotOut(BaseModel):
    note_queue_length: MeasuredOut
    recent_log_entries: MeasuredOut
    pending_recommendations: MeasuredOut
    active_runs: MeasuredOut
    half_done: MeasuredOut


class GuardrailOut(BaseModel):
    rail: str
    message: str
    value: int | str | None
    limit: int | str | None


class TriggerOut(BaseModel):
    type: str
    signal: str
    data: dict[str, Any]
    received_at: str


class EventOut(BaseModel):
    """What subscribers get: by webhook as `loop.event`, and in the ledger."""

    type: str
    action: str
    kind: str | None
    parameters: dict[str, Any]
    decision_id: str
    reasoning_summary: str
    state_hash: str
    trigger_source: str
    at: str


class LoopDecisionOut(BaseModel):
    decision_id: str
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
    cost_usd: str
    report: Annotated[
        dict[str, Any] | None, Field(description="what came of the event")
    ]
    decided_at: str
    resolved_at: str | None
    policy: PolicyStamp
    run: Annotated[str, Field(description="the run that keeps the loop's decisions")]
    seq: int


class LoopDecisionPage(BaseModel):
    items: list[LoopDecisionOut]
    next_cursor: str | None


class NoteOut(BaseModel):
    id: str
    text: str
    data: dict[str, Any]
    state: str
    decision_id: str | None
    claims: int
    claimed_until: str | None
    reason: str
    created_at: str
    ended_at: str | None


class NotePage(BaseModel):
    items: list[NoteOut]
    next_cursor: str | None


class RecommendationOut(BaseModel):
    id: str
    title: str
    detail: str
    change: dict[str, Any]
    state: str
    decision_id: str | None
    draft: dict[str, Any] | None
    evidence: Annotated[
        dict[str, Any] | None, Field(description="the counts it was learned from")
    ]
    created_at: str
    ended_at: str | None


class RecommendationPage(BaseModel):
    items: list[RecommendationOut]
    next_cursor: str | None


class IncidentOut(BaseModel):
    id: str
    condition: str
    state: str
    severity: str
    title: str
    detail: str
    joins: int
    decision_id: str
    previous: str | None
    opened_at: str
    seen_at: str
    changed_at: str | None
    resolved_at: str | None


class IncidentPage(BaseModel):
    items: list[IncidentOut]
    next_cursor: str | None


class CapOut(BaseModel):
    action: str
    used: int
    limit: int


class CostOut(BaseModel):
    used: str
    limit: str | None


class LoopStateOut(BaseModel):
    """How the loop stands: its switch, its clock, its caps and its budget."""

    project: str
    run: str | None
    paused: bool
    paused_by: str | None
    paused_reason: str
    paused_at: str | None
    decider: str
    heartbeat_at: str | None
    heartbeat_age_s: int | None
    heartbeat_s: int
    pending_signals: int
    oldest_pending_age_s: int | None
    caps: list[CapOut]
    cost_today: CostOut
    open_incidents: int
    policy: PolicyStamp


class SummaryEventsOut(BaseModel):
    emitted: int
    succeeded: int
    failed: int
    unreported: int


class SummaryApprovalsOut(BaseModel):
    asked: int
    approved: int
    denied: Annotated[int, Field(description="expired ones among them")]
    waiting: int


class SummaryShadowOut(BaseModel):
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
    begins: str
    ends: str
    decisions: int
    outcomes: Annotated[
        dict[str, dict[str, int]],
        Field(description="how many decisions, by action and then by outcome"),
    ]
    events: SummaryEventsOut
    cost_usd: str
    caps_hit: dict[str, int]
    approvals: SummaryApprovalsOut
    shadow: SummaryShadowOut
    median_decide_ms: int | None
