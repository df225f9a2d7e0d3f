"""Money on the wire is a decimal string with at most six places."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal, InvalidOperation

Money = str | int | float | Decimal
_PLACES = Decimal("0.000001")


def format_money(amount: Money) -> str:
    """`0.0121`, `Decimal("0.0121")` and `"0.0121"` are the same amount."""
    try:
        exact = Decimal(str(amount))
        rounded = exact.quantize(_PLACES, ROUND_HALF_UP)
    except InvalidOperation:
        raise ValueError(f"{amount!r} is no amount of money.") from None
    if rounded < 0:
        raise ValueError(f"{amount!r} is negative: an amount of money was expected.")
    whole, _, places = f"{rounded:f}".partition(".")
    places = places.rstrip("0")
    return f"{whole}.{places}" if places else whole
