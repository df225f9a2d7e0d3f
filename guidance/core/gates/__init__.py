"""The continue gate's parts. A literal table: no discovery, no registration."""

from __future__ import annotations

from collections.abc import Callable

from guidance.core.evidence import Evidence
from guidance.core.findings import Finding
from guidance.core.gates.budget import budget, slope
from guidance.core.gates.loops import repetition, rework, uncertainty
from guidance.core.gates.progress import checkpoint, coherence, step_limit
from guidance.core.policy import ContinueLimits

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
