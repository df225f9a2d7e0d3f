"""When a failed delivery is tried again: ten attempts over three days, then no more."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from random import SystemRandom

# Before each attempt, in seconds (Standard Webhooks 1.0).
LADDER = (0, 5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400)
ATTEMPTS = len(LADDER)
JITTER = 0.2
LONGEST_REST = 86_400.0
# What a receiver gets that takes nothing, is overloaded and does not say for how long.
SHORT_REST = 1.0
OVERLOADED = frozenset({429, 502, 503, 504})

_chance = SystemRandom()


def next_due(
    *, attempts: int, limit: int, at: datetime, rest: float
) -> datetime | None:
    """After so many attempts: the time of the next one, or None.

    Never earlier than the ladder says, so that many endpoints that failed together do
    not come back together, and never before the rest that the receiver asked for.
    """
    if attempts >= limit:
        return None
    step = LADDER[attempts - (limit - ATTEMPTS)]
    wait = max(step * (1 + JITTER * _chance.random()), rest)
    return at + timedelta(seconds=wait)


def rest_asked(*, retry_after: str, at: datetime) -> float:
    """Seconds that a receiver wants to be left alone; none if it does not say so."""
    asked = _seconds(retry_after.strip(), at) if retry_after else None
    return 0.0 if asked is None else min(max(asked, 0.0), LONGEST_REST)


def _seconds(text: str, at: datetime) -> float | None:
    """Retry-After comes as a number of seconds or as a date."""
    if text.isascii() and text.isdigit() and len(text) <= 9:
        return float(text)
    try:
        until = parsedate_to_datetime(text)
    except ValueError:
        return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return (until - at).total_seconds()
