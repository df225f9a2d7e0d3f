"""What a ruling tells the agent that waits for it, before anybody has to look it up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

# The answer as the contract shows it, and the run's head at that moment.
Standing = tuple[dict[str, Any], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """How the run stands for whoever asked about this very review."""

    review: str
    standing: Standing


def standing_shape(
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
