"""Policies and gates written back as the documents that they were read from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import is_dataclass
from typing import Any

from guidance.core.checks import GateDefinition
from guidance.core.money import format_usd
from guidance.core.policy import Policy
from guidance.core.reviews.section import Deadline
from guidance.core.runs.usage import Budget
from guidance.core.settings import list_settings
from guidance.core.tools.section import ToolSchema
from guidance.core.turns.phrases import Phrases
from guidance.core.turns.section import TurnRules


def dump_policy(policy: Policy) -> dict[str, Any]:
    """The full document of a policy: `load_policy` gives the same policy back."""
    document = dump_part(policy)
    document["gates"] = dump_gates(policy.gates)
    document["turns"] = dump_turns(policy.turns)
    document["loop"]["kinds"] = [*document["loop"]["kinds"].values()]
    return document


def dump_turns(rules: TurnRules) -> dict[str, Any]:
    """Of its models only what differs from the common rules."""
    document = dump_part(rules)
    document["models"] = {
        name: {
            key: value
            for key, value in own.items()
            if key != "models" and value != document[key]
        }
        for name, own in document["models"].items()
    }
    return document


def dump_part(part: Any) -> dict[str, Any]:
    """The section of a document that gives these settings again."""
    return {
        key: _dump_amount(getattr(part, name))
        if "_usd" in key
        else _dump(getattr(part, name), key)
        for name, key, _ in list_settings(type(part))
        if not isinstance(part, Deadline) or getattr(part, name) is not None
    }


def _dump(value: Any, key: str) -> Any:
    if isinstance(value, Budget):
        return _dump_budget(value, is_shared=key.endswith(("_day", "_month")))
    if isinstance(value, ToolSchema):
        return dict(value.document)
    if isinstance(value, Phrases):
        return list(value.texts)
    if key == "allowlist":
        return {"enabled": value is not None, "tools": list(value or ())}
    if hasattr(value, "to_json"):
        return value.to_json()
    if is_dataclass(value):
        return dump_part(value)
    if isinstance(value, tuple):
        return [_dump(each, "") for each in value]
    if isinstance(value, Mapping):
        return {name: _dump(each, "") for name, each in value.items()}
    return value


def _dump_amount(micros: int | None) -> str | None:
    return None if micros is None else format_usd(micros)


def _dump_budget(budget: Budget, *, is_shared: bool) -> dict[str, Any]:
    amounts: dict[str, Any] = {
        "tokens": budget.tokens,
        "tool_calls": budget.tool_calls,
        "time_ms": budget.time_ms,
        "cost_usd": _dump_amount(budget.cost_micros),
    }
    if is_shared:
        del amounts["time_ms"]  # it does not add up over runs
    return amounts


def dump_gates(gates: Mapping[str, GateDefinition]) -> dict[str, dict[str, object]]:
    """The part of a policy document that `read_gates` makes the same gates of."""
    documents = {name: gate.to_json() for name, gate in gates.items()}
    for document in documents.values():
        del document["id"]
    return documents
