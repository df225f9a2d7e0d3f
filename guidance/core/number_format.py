"""Figures as a reviewer reads them in a finding."""

from __future__ import annotations

from decimal import Decimal

_COUNTS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def beside(value: float, limit: float, *, places: int) -> str:
    """The value with as many decimals as it takes to be seen on its side of the limit.

    0.3999 against 0.4 must not read "0.40, under the 0.40 floor".
    """
    return _beside(_exact(value), _exact(limit), places)


def plain(value: float, *, places: int) -> str:
    """The value in full, with at least so many decimals."""
    return _plain(_exact(value), places)


def percent_beside(value: float, limit: float, *, places: int) -> str:
    return _beside(_exact(value) * 100, _exact(limit) * 100, places) + " %"


def percent(value: float) -> str:
    return _plain(_exact(value) * 100, 0) + " %"


def in_words(count: int) -> str:
    return _COUNTS[count] if count < len(_COUNTS) else f"{count:,}"


def duration(ms: int) -> str:
    """3,600,000 as "1 h", 90,500 as "1 min 30.5 s"."""
    seconds, rest = divmod(ms, 1000)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    parts = [f"{hours:,} h"] if hours else []
    if minutes:
        parts.append(f"{minutes} min")
    if seconds or rest or not parts:
        parts.append(_plain(seconds + Decimal(rest) / 1000, 0) + " s")
    return " ".join(parts)


def _exact(value: float) -> Decimal:
    # By way of repr: the shortest decimal that means this very float.
    return Decimal(repr(value))


def _plain(value: Decimal, places: int) -> str:
    exponent = value.normalize().as_tuple().exponent
    needed = -exponent if isinstance(exponent, int) else 0
    return f"{value:.{max(places, needed)}f}"


def _beside(value: Decimal, limit: Decimal, places: int) -> str:
    while True:
        text = f"{value:.{places}f}"
        shown = Decimal(text)
        if shown == value or (shown != limit and (shown > limit) == (value > limit)):
            return text
        places += 1
