"""A run's budget with the parts that an agent or a person asks for."""

from __future__ import annotations

from dataclasses import asdict

from guidance.core.money import parse_usd
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
