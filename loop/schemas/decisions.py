"""Signals, the decisions made on them, and reports on what came of a decision."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, StringConstraints

from common.fields import Cursor, Id, Moment, Usd
from ledger.schemas import PolicyStamp, ReviewReference
from loop.schemas.fields import Data, LoopQuery, Slug
from reviews.schemas.fields import Body, Money, ShortText, redact_and_hash

Key = Annotated[
    str, StringConstraints(min_length=1, max_length=255), redact_and_hash(255)
]


class SignalIn(Body):
    """The same `dedupe_key` again is the same signal. `data.decision_id` names the
    decision whose event led to this."""

    type: Literal[
        "agent/loop.complete",
        "agent/loop.retro.complete",
        "agent/loop.failed",
        "system/note",
    ]
    data: Data = {}
    dedupe_key: Key | None = None
    project: Slug | None = None


class AcceptedOut(BaseModel):
    """The decision's id is known from now on; the decision is there once it is made."""

    signal: Id
    decision_id: Id


class OutcomeIn(Body):
    """What came of an event, reported by the program that acted on it."""

    outcome: Literal["succeeded", "failed"]
    summary: ShortText = ""
    run: Annotated[str, StringConstraints(max_length=36)] | None = None
    cost_usd: Money = "0"


class DecisionFilters(LoopQuery):
    outcome: (
        Literal[
            "emitted",
            "noop",
            "rate_limited",
            "budget_denied",
            "approval_required",
            "approved_and_emitted",
            "approval_denied",
            "deduplicated",
            "invalid_decision",
        ]
        | None
    ) = None
    action: (
        Literal[
            "start_loop",
            "process_notes",
            "apply_retro_recommendation",
            "emit_alert",
            "do_nothing",
        ]
        | None
    ) = None
    trigger_source: Literal["clock", "signal", "manual", "own"] | None = None


class MeasuredOut(BaseModel):
    """One measured value, when it was measured, and whether it is too old to act on."""

    value: Any
    at: Moment
    stale: bool


class SnapshotOut(BaseModel):
    """The state of the project that the decision was made on."""

    note_queue_length: MeasuredOut
    recent_log_entries: MeasuredOut
    pending_recommendations: MeasuredOut
    active_runs: MeasuredOut
    half_done: MeasuredOut


class GuardrailOut(BaseModel):
    """A limit that held the proposed action back."""

    rail: str
    message: str
    value: int | str | None
    limit: int | str | None


class TriggerOut(BaseModel):
    """The signal that the decision was made on."""

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
    """One decision of the loop, with everything it was made on."""

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
        dict[str, Any] | None,
        Field(description="what a model would have done, recorded for comparison"),
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
