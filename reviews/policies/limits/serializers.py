"""Limits that runs share, as the API shows them."""

from __future__ import annotations

from typing import Any

from guidance.core.money import format_usd
from guidance.core.policy.limits import UNLIMITED
from guidance.core.runs.usage import Budget
from reviews.policies.limits.selectors import PartUse, ScopeUse

_SHARE_DIGITS = 4


def serialize_limits(budget: Budget) -> dict[str, Any] | None:
    """None where nothing is limited."""
    if budget == UNLIMITED:
        return None
    cost = budget.cost_micros
    return {
        "tokens": budget.tokens,
        "tool_calls": budget.tool_calls,
        "cost_usd": None if cost is None else format_usd(cost),
    }


def serialize_use(use: ScopeUse) -> dict[str, Any]:
    tokens, tool_calls, cost = use.parts
    return {
        "scope": use.scope,
        "agent": use.agent.name if use.agent else None,
        "period": use.period,
        "policy": use.policy,
        "own": use.has_own,
        "tokens": _serialize_part(tokens),
        "tool_calls": _serialize_part(tool_calls),
        "cost_usd": _serialize_money(cost),
        "share": _round(use.share),
    }


def _serialize_part(part: PartUse) -> dict[str, Any]:
    return {
        "limit": part.limit,
        "extra": part.extra,
        "used": part.used,
        "share": _round(part.share),
    }


def _serialize_money(part: PartUse) -> dict[str, Any]:
    return {
        "limit": None if part.limit is None else format_usd(part.limit),
        "extra": format_usd(part.extra),
        "used": format_usd(part.used),
        "share": _round(part.share),
    }


def _round(share: float | None) -> float | None:
    return None if share is None else round(share, _SHARE_DIGITS)
