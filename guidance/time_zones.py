"""Time zones by their names."""

from __future__ import annotations

from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError


@lru_cache(maxsize=1_000)
def find_zone(name: str) -> ZoneInfo | None:
    """None where this machine knows no such zone."""
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, ZoneInfoNotFoundError):
        return None
