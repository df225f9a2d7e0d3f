"""A run's budget with the parts that an agent or a person asks for."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from common.errors import Invalid
from guidance.core.money import format_usd, parse_usd
from guidance.core.runs.usage import Budget
from reviews.schemas.reviews import BudgetIn


def merge_budget(base: Budget, wanted: BudgetIn) -> Budget:
    """The base with every part that was given; a given null lifts the limit."""
    given = wanted.model_fields_set
    parts = asdict(base)
    for name in ("tokens", "tool_calls", "time_ms"):
        if name in given:
            parts[name] = getattr(wanted, name)
    if "cost_usd" in given:
        cost = wanted.cost_usd
        parts["cost_micros"] = None if cost is None else parse_usd(cost)
    return Budget(**parts)


def refuse_above_ceiling(budget: Budget, *, ceiling: Budget) -> None:
    """An agent gets what its policy lets it ask for; a manager may give a run more."""
    errors = [_build_error(part, ceiling) for part in budget.list_parts_above(ceiling)]
    if errors:
        every = "; ".join(f"{'.'.join(e['loc'])}: {e['message']}" for e in errors)
        raise Invalid(f"{every}.", errors=errors)


def _build_error(part: str, ceiling: Budget) -> dict[str, Any]:
    limit = getattr(ceiling, part)
    if part == "cost_micros":
        part, limit = "cost_usd", format_usd(limit)
    return {
        "loc": ["budget", part],
        "message": f"too much: the policy's ceiling is {limit}",
    }
