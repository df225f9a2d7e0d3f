"""What is left of a run's budget, as the gateway counts it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from guidance.core.money import format_usd
from ledger.state import RunState


def get_remaining_budget(run: RunState, at: datetime) -> dict[str, Any]:
    """Calls that wait for a person are taken off: their place is kept for them."""
    budget, used = run.budget, run.used
    cost = budget.cost_micros
    calls = used.tool_calls + run.reserved_calls
    return {
        "tokens": _subtract(budget.tokens, used.tokens),
        "tool_calls": _subtract(budget.tool_calls, calls),
        "time_ms": _subtract(budget.time_ms, run.compute_time_used(at)),
        "cost_usd": None if cost is None else format_usd(cost - used.cost_micros),
    }


def _subtract(limit: int | None, used: int) -> int | None:
    return None if limit is None else limit - used
