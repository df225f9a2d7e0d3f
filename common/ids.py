"""UUIDv7: the id that people and programs see (the database keeps a big integer)."""

from __future__ import annotations

import os
import time
import uuid


def uuid7() -> uuid.UUID:
    """A time-ordered random id (RFC 9562): 48 bits of milliseconds, 74 random bits."""
    milliseconds = time.time_ns() // 1_000_000
    noise = int.from_bytes(os.urandom(10), "big")
    value = (milliseconds & ((1 << 48) - 1)) << 80
    value |= 0x7 << 76
    value |= (noise >> 68 & 0xFFF) << 64
    value |= 0b10 << 62
    value |= noise & ((1 << 62) - 1)
    return uuid.UUID(int=value)


def parse_code(text: str) -> uuid.UUID | None:
    """The id in its one accepted spelling, or None: anything else is simply absent."""
    if len(text) != 36:
        return None
    try:
        code = uuid.UUID(text)
    except ValueError:
        return None
    return code if str(code) == text else None
