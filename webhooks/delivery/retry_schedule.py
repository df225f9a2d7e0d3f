"""When a failed delivery is sent again: ten attempts over three days, then no more."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from random import SystemRandom

# The delay before each attempt, in seconds (Standard Webhooks 1.0).
DELAYS_S = (0, 5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400)
MAX_ATTEMPTS = len(DELAYS_S)
JITTER = 0.2
MAX_REST_S = 86_400.0
# For an overloaded receiver that does not say how long it needs.
OVERLOAD_REST_S = 1.0
OVERLOADED = frozenset({429, 502, 503, 504})

_random = SystemRandom()


def get_next_due(
    *, attempts: int, limit: int, at: datetime, rest: float
) -> datetime | None:
    """The time of the next attempt, or None if there is none left.

    Chance only adds to the delay, so that deliveries that failed together do not come
    back together. `rest` is what the receiver asked for, in seconds.
    """
    if attempts >= limit:
        return None
    delay = DELAYS_S[attempts - (limit - MAX_ATTEMPTS)]
    wait = max(delay * (1 + JITTER * _random.random()), rest)
    return at + timedelta(seconds=wait)


def parse_retry_after(*, retry_after: str, at: datetime) -> float:
    """Seconds until a receiver wants the next request; 0 if it does not say."""
    asked = _parse_seconds(retry_after.strip(), at) if retry_after else None
    return 0.0 if asked is None else min(max(asked, 0.0), MAX_REST_S)


def _parse_seconds(text: str, at: datetime) -> float | None:
    """Retry-After is a number of seconds or a date."""
    if text.isascii() and text.isdigit() and len(text) <= 9:
        return float(text)
    try:
        until = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None  # the second where its numbers are larger than a clock can hold
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return (until - at).total_seconds()
