"""Answers about steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from checkrail.answers.common import PolicyStamp, Receipt, Remaining, ReviewRef
from checkrail.answers.notes import Note
from checkrail.answers.parsing import Answer
from checkrail.answers.reviews import Ruling

StepDecision = Literal["stop", "pause", "throttle", "checkpoint", "continue"]


@dataclass(frozen=True, kw_only=True)
class Finding(Answer):
    """What one gate says about a step; `allowance` is the one by which it paused nothing."""

    gate: str
    decision: str
    message: str
    value: float | None = None
    limit: float | None = None
    allowance: str | None = None


@dataclass(frozen=True, kw_only=True)
class Metrics(Answer):
    budget_remaining: Remaining
    budget_slope: float | None = None
    budget_slope_significant: bool | None = None
    rework_ratio: float | None = None
    rework_ratio_total: float | None = None
    steps_since_checkpoint: int | None = None
    steps_until_checkpoint: int | None = None
    coherence: float | None = None
    coherence_level: str | None = None
    coherence_source: str | None = None
    coherence_reported: float | None = None
    coherence_computed: float | None = None
    coherence_parts: Mapping[str, Any] | None = None
    uncertainty: float | None = None
    uncertainty_level: str | None = None
    uncertainty_source: str | None = None
    uncertainty_reported: float | None = None
    uncertainty_computed: float | None = None
    uncertainty_parts: Mapping[str, Any] | None = None
    not_evaluated: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Evaluation(Answer):
    """What the continue gate says."""

    decision: StepDecision
    findings: tuple[Finding, ...]
    metrics: Metrics
    policy: PolicyStamp
    checkpoint_due: bool = False
    delay_ms: int = 0
    recommended_action: str = ""


@dataclass(frozen=True, kw_only=True)
class Decision(Evaluation):
    """May the agent go on? Every gate that tripped is in `findings`.

    `ruling` is there once a person was waited for: its `note` is what they wrote. `notes`
    is what people told the agent meanwhile; `run.take_notes()` has them from all answers.
    """

    run: str
    step: int
    receipt: Receipt
    review: ReviewRef | None = None
    notes: tuple[Note, ...] = ()
    ruling: Ruling | None = None
