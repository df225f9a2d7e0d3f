"""What is left of a run's budget, as the gateway counts it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from guidance.core.money import format_usd
from guidance.core.runs.shared_limits import NOTHING
from guidance.core.runs.usage import Usage
from ledger.state import RunState


def get_remaining_budget(
    run: RunState, at: datetime, *, below: Usage = NOTHING
) -> dict[str, Any]:
    """Calls that wait for a person are taken off: their place is kept for them. So is what
    the runs `below` it have used."""
    budget, used = run.budget, run.spent
    cost = budget.cost_micros
    all_cost = used.cost_micros + below.cost_micros
    return {
        "tokens": _subtract(budget.tokens, used.tokens + below.tokens),
        "tool_calls": _subtract(budget.tool_calls, used.tool_calls + below.tool_calls),
        "time_ms": _subtract(budget.time_ms, run.compute_time_used(at)),
        "cost_usd": None if cost is None else format_usd(cost - all_cost),
    }


def _subtract(limit: int | None, used: int) -> int | None:
    return None if limit is None else limit - used
