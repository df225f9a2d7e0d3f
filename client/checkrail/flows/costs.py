"""What tokens cost by the prices of the run's policy, which are asked for once.

A step's body has room for a sum alone, and only the agent knows which kinds of tokens it is
made of: so the cost is computed here, by the prices that the project keeps.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from checkrail.answers import PolicyVersion
from checkrail.errors import ProtocolError
from checkrail.flows.run_core import RunCore
from checkrail.flows.usage import Usage
from checkrail.money import format_money
from checkrail.problems import Problem
from checkrail.transport.effects import Flow, get, quote_part
from checkrail.transport.retry import send_request

_MILLION = 1_000_000
# Each kind with its price in a policy; a kind without one costs what other input does.
_PRICES = {
    "input_tokens": "input_usd",
    "cached_input_tokens": "cached_input_usd",
    "cache_write_tokens": "cache_write_usd",
    "output_tokens": "output_usd",
}

logger = logging.getLogger("checkrail")


def compute_cost(
    run: RunCore, usages: Sequence[Usage], *, patience: float | None = None
) -> Flow[str | None]:
    """The cost of what was used; None where no price is known for any of it."""
    if run.prices is None:
        run.prices = yield from _get_prices(run, patience)
    micros = [_compute_micros(run, usage) for usage in usages]
    known = [cost for cost in micros if cost is not None]
    if not known:
        return None
    return format_money(Decimal(sum(known)) / _MILLION)


def _get_prices(run: RunCore, patience: float | None) -> Flow[Mapping[str, Any]]:
    """A server that has none to give is no reason to lose a step."""
    policy = run.state.policy
    path = f"/policies/{quote_part(policy.name)}/versions/{policy.version}"
    try:
        version = yield from send_request(
            run.connection, PolicyVersion, get(path), patience=patience
        )
    except (Problem, ProtocolError) as trouble:
        logger.warning("No prices, so costs are not reported: %s", trouble)
        return {}
    prices = version.document.get("prices", {}).get("models", {})
    return prices if isinstance(prices, dict) else {}


def _compute_micros(run: RunCore, usage: Usage) -> int | None:
    """In millionths of a dollar, rounded up, as the server does it."""
    price = _find_price(run, usage.model)
    if price is None:
        return None
    total: int = sum(
        getattr(usage, kind) * _read_price(price.get(name, price["input_usd"]))
        for kind, name in _PRICES.items()
    )
    return -(-total // _MILLION)


def _find_price(run: RunCore, model: str) -> Mapping[str, Any] | None:
    """By the name that the response gives. Where that is a dated one of the run's own
    model, the run's will do as well."""
    own = run.state.model or ""
    prices = run.prices or {}
    names = [model or own]
    if own and model.startswith(f"{own}-"):
        names.append(own)
    for name in names:
        if name in prices:
            return prices[name]  # type: ignore[no-any-return]
        beginnings = [
            pattern
            for pattern in prices
            if pattern.endswith("*") and name.startswith(pattern[:-1])
        ]
        if name and beginnings:
            return prices[max(beginnings, key=len)]  # type: ignore[no-any-return]
    if prices and names[0] not in run.unpriced_models:
        run.unpriced_models.add(names[0])
        logger.warning(
            "The policy %s has no price for %s: its cost is not reported.",
            run.state.policy.name,
            names[0] or "a model without a name",
        )
    return None


def _read_price(text: str) -> int:
    return int(Decimal(text) * _MILLION)
