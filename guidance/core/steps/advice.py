"""The recommended action for each decision, in words for the agent."""

from __future__ import annotations

from collections.abc import Sequence

from guidance.core.number_format import format_duration
from guidance.core.steps.findings import Finding

_BY_GATE = {
    "coherence": (
        "Stop: the work no longer holds together. A manager may reopen the run."
    ),
    "step_limit": (
        "Stop: too many steps went by without a checkpoint. "
        "A manager may reopen the run."
    ),
    "budget": "Stop: the budget is used up. A manager may reopen the run with more.",
    "review_limit": (
        "Stop: too many reviews wait for people. A manager may reopen the run."
    ),
    "rework": "Wait for a reviewer: too many of the last steps redo earlier work.",
    "uncertainty": "Wait for a reviewer: say what is unclear before going on.",
    "throttle_ignored": "Wait for a reviewer: you went on without waiting.",
    "repetition": "Wait for a reviewer: the same steps repeat without getting on.",
}
# For a gate that could not judge and therefore holds.
_OTHERWISE = {
    "stop": "Stop. A manager may reopen the run.",
    "pause": "Wait for a reviewer: a check could not be made.",
}
_SAVE = "Save a checkpoint"


def build_recommended_action(
    *, decision: str, findings: Sequence[Finding], delay_ms: int, checkpoint_due: bool
) -> str:
    """A sentence for every decision; the first gate that asked for it gives the reason."""
    if decision == "continue":
        return "Go on."
    if decision == "checkpoint":
        return f"{_SAVE}, then go on."
    if decision == "throttle":
        wait = f"Wait {format_duration(delay_ms)}, then go on with smaller steps."
        return f"{_SAVE}. {wait}" if checkpoint_due else wait
    first = next(finding for finding in findings if finding.decision == decision)
    if first.value is None:
        return _OTHERWISE[decision]
    return _BY_GATE.get(first.gate, _OTHERWISE[decision])
