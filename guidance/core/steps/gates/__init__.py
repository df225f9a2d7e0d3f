"""The continue gate's parts. A literal table: no discovery, no registration."""

from __future__ import annotations

from collections.abc import Callable

from guidance.core.policy import ContinueLimits
from guidance.core.steps.evidence import Evidence
from guidance.core.steps.findings import Finding
from guidance.core.steps.gates.budget import budget, slope
from guidance.core.steps.gates.progress import checkpoint, coherence, step_limit
from guidance.core.steps.gates.repetition import repetition, rework, uncertainty

Gate = Callable[[ContinueLimits, Evidence], Finding | None]

# Findings are listed in this order; which decision wins does not depend on it.
REGISTRY: dict[str, Gate] = {
    "coherence": coherence,
    "step_limit": step_limit,
    "budget": budget,
    "rework": rework,
    "uncertainty": uncertainty,
    "repetition": repetition,
    "slope": slope,
    "checkpoint": checkpoint,
}
