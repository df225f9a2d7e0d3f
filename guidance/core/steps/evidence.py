"""What the gates look at: the facts of a step, measured, with None for the unknown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from guidance.core.policy import ContinueLimits
from guidance.core.runs.facts import StepReport
from guidance.core.runs.measures import Trend, find_cycle, fit_trend
from guidance.core.runs.memory import StepTrace
from guidance.core.runs.usage import Budget, Remaining, Usage
from guidance.core.steps.scores import (
    CoherenceParts,
    UncertaintyParts,
    compute_coherence,
    compute_uncertainty,
)


class Evidence(NamedTuple):
    """`has_enough_rework_steps` and a None in `coherence`, `uncertainty`, `trend` or
    `cycle` say what could not be judged. `cycle` is 0 when no steps repeat, `turns_cycle` when
    no turns do, which agents need not report. A part of
    `budget` may be unknown although something of it remains or is used up.
    """

    since_checkpoint: int
    coherence: float | None
    coherence_source: str
    coherence_parts: CoherenceParts | None
    uncertainty: float | None
    uncertainty_source: str
    uncertainty_parts: UncertaintyParts | None
    rework_ratio: float
    rework_ratio_total: float
    has_enough_rework_steps: bool
    trend: Trend | None
    cycle: int | None
    budget: Budget
    remaining: Remaining
    turns_cycle: int = 0

    def list_not_evaluated(self) -> tuple[str, ...]:
        """The gates that had nothing to judge by: they neither passed nor tripped."""
        missing = []
        if self.coherence is None:
            missing.append("coherence")
        if not self.has_enough_rework_steps:
            missing.append("rework")
        if self.uncertainty is None:
            missing.append("uncertainty")
        if self.cycle is None:
            missing.append("repetition")
        if self.trend is None:
            missing.append("slope")
        return tuple(missing)


def build_evidence(
    *,
    limits: ContinueLimits,
    report: StepReport,
    trace: Sequence[StepTrace],
    segment: int,
    since_checkpoint: int,
    rework_ratio_total: float,
    used: Usage,
    budget: Budget,
    turns_repeat: int = 0,
) -> Evidence:
    """The evidence of a reported step; trace, segment and used include that step."""
    current = trace[-segment:]
    window = current[-limits.rework_window :]
    rework = [step.rework for step in window].count(True)
    spend = [step.tokens for step in current[-limits.slope_window :]]
    repeats = find_cycle(current, times=limits.repeat_limit)
    coherent, coherent_from, coherent_parts = _measure_coherence(report, trace)
    # The segment only: calls that failed before an approved pause would otherwise
    # pause the run again at its very next step.
    unsure, unsure_from, unsure_parts = _measure_uncertainty(report, current, repeats)
    return Evidence(
        since_checkpoint=since_checkpoint,
        coherence=coherent,
        coherence_source=coherent_from,
        coherence_parts=coherent_parts,
        uncertainty=unsure,
        uncertainty_source=unsure_from,
        uncertainty_parts=unsure_parts,
        rework_ratio=rework / len(window),
        rework_ratio_total=rework_ratio_total,
        has_enough_rework_steps=len(window) >= limits.rework_min_steps,
        trend=fit_trend(spend) if len(spend) >= limits.slope_min_points else None,
        cycle=repeats,
        turns_cycle=turns_repeat,
        budget=budget,
        remaining=Remaining(
            tokens=_subtract(budget.tokens, used.tokens),
            tool_calls=_subtract(budget.tool_calls, used.tool_calls),
            time_ms=_subtract(budget.time_ms, used.time_ms),
            cost_micros=_subtract(budget.cost_micros, used.cost_micros),
        ),
    )


def _measure_coherence(
    report: StepReport, trace: Sequence[StepTrace]
) -> tuple[float | None, str, CoherenceParts | None]:
    if report.coherence is not None:
        return report.coherence, "reported", None
    computed = compute_coherence(trace)
    if computed is None:
        return None, "unknown", None
    value, parts = computed
    return value, "computed", parts


def _measure_uncertainty(
    report: StepReport, trace: Sequence[StepTrace], repeats: int | None
) -> tuple[float | None, str, UncertaintyParts | None]:
    if report.uncertainty is not None:
        return report.uncertainty, "reported", None
    computed = compute_uncertainty(
        trace,
        confidences=report.confidences,
        repeated=None if repeats is None else repeats > 0,
    )
    if computed is None:
        return None, "unknown", None
    value, parts = computed
    return value, "computed", parts


def _subtract(limit: int | None, used: int) -> int | None:
    return None if limit is None else limit - used
