"""Money as whole millionths of a dollar inside, as a decimal string outside."""

from __future__ import annotations

import re
from functools import lru_cache

# Twelve digits before the point keep every amount inside a signed 64-bit column.
AMOUNT_PATTERN = r"(0|[1-9][0-9]{0,11})(?:\.([0-9]{1,6}))?"
_AMOUNT = re.compile(AMOUNT_PATTERN)


@lru_cache(maxsize=4_096)  # most calls cost what others did, or nothing
def parse_usd(text: str) -> int:
    """Read "0.0121" as 12100; refuses signs, exponents and a seventh decimal."""
    found = _AMOUNT.fullmatch(text)
    if found is None:
        raise ValueError("not an amount such as 0.0121 with at most six decimals")
    whole, part = found.groups(default="")
    return int(whole) * 1_000_000 + int(part.ljust(6, "0"))


def format_usd(micros: int) -> str:
    """Write 9987900 as "9.9879": two to six decimals, no trailing zeros beyond."""
    whole, part = divmod(abs(micros), 1_000_000)
    decimals = f"{part:06d}".rstrip("0").ljust(2, "0")
    return f"{'-' if micros < 0 else ''}{whole}.{decimals}"
