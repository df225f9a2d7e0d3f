"""The curves of a run: its scores and what it spent, step by step, against their limits."""

from __future__ import annotations

from console.runs.curves.sampling import SampledSteps, read_steps
from console.runs.curves.scores import build_score_curves
from console.runs.curves.shown import Curve
from console.runs.curves.spend import build_spend_curve
from guidance.core.policy import ContinueLimits
from ledger.models import Run

__all__ = ["Curve", "SampledSteps", "build_curves", "read_steps"]


def build_curves(
    run: Run, steps: SampledSteps, limits: ContinueLimits
) -> tuple[Curve, ...]:
    """None before the second step: a single point is no curve."""
    if len(steps.points) < 2:
        return ()
    return (
        *build_score_curves(steps.points, limits),
        build_spend_curve(run, steps),
    )
