"""The settings of a policy in the order in which they are read, as people expect them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from guidance.core.policy.schema import POLICY_SCHEMA


def order_settings(document: Mapping[str, Any]) -> dict[str, Any]:
    """The same document; stored ones have their keys by the alphabet."""
    ordered: dict[str, Any] = _sort_keys(document, POLICY_SCHEMA)
    return ordered


def _sort_keys(value: Any, schema: Any) -> Any:
    if not isinstance(value, Mapping) or not isinstance(schema, Mapping):
        return value
    named = schema.get("properties", {})
    other = schema.get("additionalProperties")
    known = [name for name in named if name in value]
    rest = [name for name in value if name not in named]
    return {
        name: _sort_keys(value[name], named.get(name, other))
        for name in (*known, *rest)
    }
