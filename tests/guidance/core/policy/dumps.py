"""Policies and gates written back as the documents that they were read from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

from guidance.core.checks import GateDefinition
from guidance.core.money import format_usd
from guidance.core.policy import Policy
from guidance.core.policy.limits import SCOPES, Limits
from guidance.core.runs.usage import Budget


def dump_policy(policy: Policy) -> dict[str, object]:
    """The full document of a policy: `load_policy` gives the same policy back."""
    return {
        "budget": _dump_budget(policy.budget),
        "budget_ceiling": _dump_budget(policy.budget_ceiling),
        "continue": asdict(policy.continue_limits),
        "reviews": policy.reviews.to_json(),
        "runs": asdict(policy.runs),
        "tools": policy.tools.to_json(),
        "checks": asdict(policy.checks),
        "gates": dump_gates(policy.gates),
        "evaluators": policy.evaluators.to_json(),
        "turns": policy.turns.to_json(),
        "loop": policy.loop.to_json(),
        "caps": asdict(policy.caps),
        "limits": _dump_limits(policy.limits),
        "four_eyes": {
            **asdict(policy.four_eyes),
            "severity": list(policy.four_eyes.severity),
            "rules": list(policy.four_eyes.rules),
        },
        "prices": policy.prices.to_json(),
    }


def _dump_limits(limits: Limits) -> dict[str, object]:
    shared = {scope: _dump_budget(getattr(limits, scope)) for scope in SCOPES}
    for amounts in shared.values():
        del amounts["time_ms"]  # it does not add up over runs
    return {**shared, "depth": limits.depth, "children": limits.children}


def _dump_budget(budget: Budget) -> dict[str, object]:
    cost = budget.cost_micros
    return {
        "tokens": budget.tokens,
        "tool_calls": budget.tool_calls,
        "time_ms": budget.time_ms,
        "cost_usd": None if cost is None else format_usd(cost),
    }


def dump_gates(gates: Mapping[str, GateDefinition]) -> dict[str, dict[str, object]]:
    """The part of a policy document that `read_gates` makes the same gates of."""
    documents = {name: gate.to_json() for name, gate in gates.items()}
    for document in documents.values():
        del document["id"]
    return documents
