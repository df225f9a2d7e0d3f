"""Words without which no statement is risky, and where they stand in a text."""

from __future__ import annotations

import re

from guidance.core.regex import compile_byte_pattern, encode_one_byte
from guidance.core.shell_commands.shell.tree import UNKNOWN

_RISKY = (
    "drop",
    "truncate",
    "delete",
    "update",
    "alter",
    "merge",
    "purge",
    "reset",
    "overwrite",
    "exec",
    "prepare",
    "program",
    "replace",
    UNKNOWN,
)
# All of them at once: most statements have none (bench: "rows for a database").
_ANY_RISKY = compile_byte_pattern("|".join(map(re.escape, _RISKY)))


def find_risky_words(lower: str) -> list[int]:
    """Where they stand, in order; a text without any is left alone."""
    places: list[int] = []
    if _ANY_RISKY.search(encode_one_byte(lower)) is None:
        return places
    for word in _RISKY:
        at = lower.find(word)
        while at >= 0:
            places.append(at)
            at = lower.find(word, at + len(word))
    return sorted(places)
