"""What the gates look at: the facts of a step, measured, with None for the unknown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from guidance.core.policy import ContinueLimits
from guidance.core.runs.facts import StepReport
from guidance.core.runs.measures import Trend, find_cycle, fit_trend
from guidance.core.runs.shared_limits import NOTHING_SHARED, SharedLimit, SharedUse
from guidance.core.runs.trace import StepColumns, StepTrace
from guidance.core.runs.usage import Budget, Remaining, Usage
from guidance.core.steps.scores import (
    CoherenceParts,
    UncertaintyParts,
    compute_coherence,
    compute_uncertainty,
)


class IgnoredWait(NamedTuple):
    """A step that came `waited_ms` after an answer that asked for `delay_ms`; so many in a
    row, with this one."""

    times: int
    delay_ms: int
    waited_ms: int


class Evidence(NamedTuple):
    """`has_enough_rework_steps` and a None in `coherence`, `uncertainty`, `trend` or
    `cycle` say what could not be judged. `cycle` is 0 when no steps repeat, `turns_cycle` when
    no turns do, which agents need not report. A part of
    `budget` may be unknown although something of it remains or is used up. Of a score
    that is reported and computed the worse one counts; both are kept.
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
    # Whether the time is what the server measured, and not what was reported.
    is_time_measured: bool = False
    ignored_wait: IgnoredWait | None = None
    coherence_reported: float | None = None
    coherence_computed: float | None = None
    uncertainty_reported: float | None = None
    uncertainty_computed: float | None = None
    limits_reached: tuple[SharedLimit, ...] = ()

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
    running_ms: int | None = None,
    ignored_wait: IgnoredWait | None = None,
    shared: SharedUse = NOTHING_SHARED,
) -> Evidence:
    """The evidence of a reported step; trace, segment, used and shared include that step."""
    time_ms, below = max(used.time_ms, running_ms or 0), shared.below
    remembered = current = StepColumns.from_trace(trace)
    if segment < len(trace):
        current = StepColumns.from_trace(trace[-segment:])
    window = current.rework[-limits.rework_window :]
    spend = current.tokens[-limits.slope_window :]
    repeats = find_cycle(current.signature, times=limits.repeat_limit)
    coherent, coherent_parts = compute_coherence(remembered) or (None, None)
    # The segment only: calls that failed before an approved pause would otherwise
    # pause the run again at its very next step.
    unsure, unsure_parts = compute_uncertainty(
        current,
        confidences=report.confidences,
        repeated=None if repeats is None else repeats > 0,
    ) or (None, None)
    coherence, coherence_source = _choose_worse(report.coherence, coherent, min)
    uncertainty, uncertainty_source = _choose_worse(report.uncertainty, unsure, max)
    remaining = Remaining(
        _subtract(budget.tokens, used.tokens + below.tokens),
        _subtract(budget.tool_calls, used.tool_calls + below.tool_calls),
        _subtract(budget.time_ms, time_ms),
        _subtract(budget.cost_micros, used.cost_micros + below.cost_micros),
    )
    trend = fit_trend(spend) if len(spend) >= limits.slope_min_points else None
    # By their places, in the order of its fields: by name it takes five times as long
    # (bench steps).
    return Evidence(
        since_checkpoint,
        coherence,
        coherence_source,
        coherent_parts,
        uncertainty,
        uncertainty_source,
        unsure_parts,
        window.count(True) / len(window),
        rework_ratio_total,
        len(window) >= limits.rework_min_steps,
        trend,
        repeats,
        budget,
        remaining,
        turns_repeat,
        time_ms > used.time_ms,
        ignored_wait,
        report.coherence,
        coherent,
        report.uncertainty,
        unsure,
        shared.reached,
    )


def _choose_worse(
    reported: float | None, computed: float | None, worse: Callable[..., float]
) -> tuple[float | None, str]:
    """What counts, and whether it is the agent's word or what was seen."""
    if reported is None:
        return computed, "unknown" if computed is None else "computed"
    if computed is None or worse(reported, computed) == reported:
        return reported, "reported"
    return computed, "computed"


def _subtract(limit: int | None, used: int) -> int | None:
    return None if limit is None else limit - used
