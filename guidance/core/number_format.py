"""Numbers formatted as a reviewer reads them in a finding."""

from __future__ import annotations

from decimal import Decimal

_COUNTS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def format_beside(value: float, limit: float, *, places: int) -> str:
    """The value with as many decimals as it takes to be seen on its side of the limit.

    0.3999 against 0.4 must not read "0.40, under the 0.40 floor".
    """
    return _format_beside(_to_decimal(value), _to_decimal(limit), places)


def format_plain(value: float, *, places: int) -> str:
    """The value in full, with at least so many decimals."""
    return _format_plain(_to_decimal(value), places)


def format_percent_beside(value: float, limit: float, *, places: int) -> str:
    return (
        _format_beside(_to_decimal(value) * 100, _to_decimal(limit) * 100, places)
        + " %"
    )


def format_percent(value: float) -> str:
    return _format_plain(_to_decimal(value) * 100, 0) + " %"


def format_count(count: int) -> str:
    return _COUNTS[count] if count < len(_COUNTS) else f"{count:,}"


def format_amount(number: int, noun: str) -> str:
    """ "1 call", "1,204 calls"."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def format_duration(ms: int) -> str:
    """3,600,000 as "1 h", 90,500 as "1 min 30.5 s"."""
    seconds, rest = divmod(ms, 1000)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    parts = [f"{hours:,} h"] if hours else []
    if minutes:
        parts.append(f"{minutes} min")
    if seconds or rest or not parts:
        parts.append(_format_plain(seconds + Decimal(rest) / 1000, 0) + " s")
    return " ".join(parts)


def _to_decimal(value: float) -> Decimal:
    # By way of repr: the shortest decimal that means this very float.
    return Decimal(repr(value))


def _format_plain(value: Decimal, places: int) -> str:
    exponent = value.normalize().as_tuple().exponent
    needed = -exponent if isinstance(exponent, int) else 0
    return f"{value:.{max(places, needed)}f}"


def _format_beside(value: Decimal, limit: Decimal, places: int) -> str:
    while True:
        text = f"{value:.{places}f}"
        shown = Decimal(text)
        if shown == value or (shown != limit and (shown > limit) == (value > limit)):
            return text
        places += 1
