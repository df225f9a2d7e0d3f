"""The continue gate without a run: the caller sends the totals, nothing is stored."""

from __future__ import annotations

from dataclasses import dataclass, field

from guidance.core.policy import Policy
from guidance.core.runs.facts import FactError
from guidance.core.runs.measures import fit_trend
from guidance.core.runs.usage import Budget, Remaining
from guidance.core.steps.evidence import Evidence
from guidance.core.steps.judge_step import ContinueVerdict, ask_gates, compute_delay
from guidance.core.vocabulary import choose_most_severe


@dataclass(frozen=True, slots=True, kw_only=True)
class ContinueFacts:
    """What a caller says of its own run; a None in `budget_remaining` is unlimited."""

    step_number: int
    total_tokens_used: int
    total_tool_calls: int
    rework_count: int
    coherence_score: float | None = None
    uncertainty_score: float | None = None
    budget_remaining: Remaining = field(default_factory=Remaining)
    last_checkpoint_step: int = 0
    recent_step_tokens: tuple[int, ...] = ()


def judge_continue(*, policy: Policy, facts: ContinueFacts) -> ContinueVerdict:
    """Judge by the same gates as a step of a run; raises FactError on nonsense.

    Without a history, rework is counted over all steps, and nothing is known of
    repetition or of earlier throttles.
    """
    _refuse_nonsense(facts)
    limits = policy.continue_limits
    step = facts.step_number
    ratio = facts.rework_count / step if step else 0.0
    spend = facts.recent_step_tokens[-limits.slope_window :]
    left = facts.budget_remaining
    evidence = Evidence(
        since_checkpoint=step - facts.last_checkpoint_step,
        coherence=facts.coherence_score,
        coherence_source=_name_source(facts.coherence_score),
        coherence_parts=None,
        uncertainty=facts.uncertainty_score,
        uncertainty_source=_name_source(facts.uncertainty_score),
        uncertainty_parts=None,
        coherence_reported=facts.coherence_score,
        uncertainty_reported=facts.uncertainty_score,
        rework_ratio=ratio,
        rework_ratio_total=ratio,
        has_enough_rework_steps=step >= limits.rework_min_steps,
        trend=fit_trend(spend) if len(spend) >= limits.slope_min_points else None,
        cycle=None,
        budget=Budget(
            tokens=_derive_budget(left.tokens, facts.total_tokens_used),
            tool_calls=_derive_budget(left.tool_calls, facts.total_tool_calls),
            time_ms=None,
            cost_micros=None,
        ),
        remaining=left,
    )
    findings, metrics = ask_gates(limits=limits, evidence=evidence)
    decision = choose_most_severe([finding.decision for finding in findings])
    return ContinueVerdict(
        decision=decision,
        findings=findings,
        metrics=metrics,
        delay_ms=compute_delay(decision, limits=limits, throttles=0),
    )


def _refuse_nonsense(facts: ContinueFacts) -> None:
    step = facts.step_number
    for name in (
        "step_number",
        "total_tokens_used",
        "total_tool_calls",
        "rework_count",
        "last_checkpoint_step",
    ):
        if getattr(facts, name) < 0:
            raise FactError(name, f"{name} must not be negative")
    for name in ("coherence_score", "uncertainty_score"):
        score = getattr(facts, name)
        # Written so that NaN is refused as well.
        if score is not None and not 0 <= score <= 1:
            raise FactError(name, f"{name} must be from 0 to 1")
    for name in ("rework_count", "last_checkpoint_step"):
        value = getattr(facts, name)
        if value > step:
            raise FactError(name, f"{name} {value} is more than step_number {step}")
    if any(tokens < 0 for tokens in facts.recent_step_tokens):
        raise FactError("recent_step_tokens", "no step uses fewer than 0 tokens")


def _name_source(score: float | None) -> str:
    return "unknown" if score is None else "reported"


def _derive_budget(left: int | None, used: int) -> int | None:
    """What the budget must have been; unknown where the caller gave no usage."""
    return None if left is None or left + used <= 0 else left + used
