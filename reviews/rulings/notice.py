"""The decision on a run, as an agent that waits for it is answered."""

from __future__ import annotations

from typing import Any, NamedTuple


class DecisionState(NamedTuple):
    """The answer as docs/api.md shows it, the run's head at that moment, and whether its
    agent has notes that it has not read."""

    answer: dict[str, Any]
    head_seq: int
    has_notes: bool


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
        "notes": [],
    }
