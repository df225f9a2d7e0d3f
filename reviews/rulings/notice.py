"""The decision on a run, as an agent that waits for it is answered."""

from __future__ import annotations

from typing import Any

# The answer as docs/api.md shows it, and the run's head at that moment.
DecisionState = tuple[dict[str, Any], int]


def build_decision_state(
    *,
    run: str,
    status: str,
    state: str,
    review: dict[str, Any] | None,
    ruling: dict[str, Any] | None,
) -> dict[str, Any]:
    return {
        "run": run,
        "run_status": status,
        "state": state,
        "review": review,
        "ruling": ruling,
    }
