"""The gates of a step: together they are the continue gate.

A literal table: no discovery, no registration.
"""

from __future__ import annotations

from collections.abc import Callable

from guidance.core.policy import ContinueLimits
from guidance.core.steps.evidence import Evidence
from guidance.core.steps.findings import Finding
from guidance.core.steps.gates.budget import (
    check_budget,
    check_ignored_wait,
    check_limits,
    check_slope,
)
from guidance.core.steps.gates.progress import (
    check_checkpoint,
    check_coherence,
    check_step_limit,
)
from guidance.core.steps.gates.repetition import (
    check_repetition,
    check_rework,
    check_uncertainty,
)

Gate = Callable[[ContinueLimits, Evidence], Finding | None]

# Findings are listed in this order; which decision wins does not depend on it.
REGISTRY: dict[str, Gate] = {
    "coherence": check_coherence,
    "step_limit": check_step_limit,
    "budget": check_budget,
    "limits": check_limits,
    "rework": check_rework,
    "uncertainty": check_uncertainty,
    "repetition": check_repetition,
    "slope": check_slope,
    "throttle_ignored": check_ignored_wait,
    "checkpoint": check_checkpoint,
}
