"""JSON that every program reads alike: limits on numbers, texts, depth and size."""

from __future__ import annotations

import math
import re
from typing import Any, Literal

DEPTH_LIMIT = 32
NODE_LIMIT = 10_000
# Beyond it programs do not agree on a whole number.
INTEGER_LIMIT = 2**53 - 1
_DIGITS = len(str(INTEGER_LIMIT)) + 1

TOO_MANY = f"the arguments hold more than {NODE_LIMIT:,} values"

# Also one without its end: no text makes this look at a character twice.
_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?', re.DOTALL)


Reason = Literal[
    "constant",
    "duplicate-key",
    "infinite",
    "integer-range",
    "negative-zero",
    "nul",
    "surrogate",
    "too-deep",
    "too-long",
    "too-many",
]


class JsonRefused(ValueError):
    """JSON, but nothing that everybody reads alike; where it stands is found later."""

    def __init__(self, reason: Reason, message: str) -> None:
        super().__init__(message)
        self.reason = reason


def parse_integer(digits: str) -> int:
    """A whole number as JSON writes it."""
    if digits == "-0":
        raise JsonRefused(
            "negative-zero", "-0 is not a number that everybody reads alike: send 0"
        )
    if len(digits) > _DIGITS or abs(value := int(digits)) > INTEGER_LIMIT:
        raise JsonRefused(
            "integer-range",
            "a whole number lies outside ±(2^53 - 1): send it as a string",
        )
    return value


def parse_decimal(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise JsonRefused("infinite", "a number is too large to be held")
    if value == 0 and digits.startswith("-"):
        raise JsonRefused(
            "negative-zero", "-0 is not a number that everybody reads alike: send 0"
        )
    return value


def check_text(text: str, *, longest: int | None = None) -> str:
    if longest is not None and len(text) > longest:
        raise JsonRefused("too-long", f"a text is longer than {longest:,} characters")
    if "\0" in text:
        raise JsonRefused("nul", "a text holds the NUL character")
    if not text.isascii():
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            raise JsonRefused(
                "surrogate", "a text holds half of a surrogate pair"
            ) from None
    return text


def is_flood(text: str) -> bool:
    """So many commas are as many values; counting them costs less than reading them."""
    commas = text.count(",")
    return commas >= NODE_LIMIT and _STRING.sub("", text).count(",") >= NODE_LIMIT


def is_plainly_small(text: str, *, longest: int) -> bool:
    """Whether `check_size` can find nothing in what this text is read as: told by the text
    itself, which costs a tenth of it. Only an escape writes half of a surrogate pair or
    NUL, each value but the first has a comma or a bracket before it, and nothing is deeper
    than there are brackets."""
    if len(text) > longest or "\\u" in text:
        return False
    opened = text.count("{") + text.count("[")
    return opened <= DEPTH_LIMIT and opened + text.count(",") < NODE_LIMIT


def check_size(document: Any, *, longest: int | None = None) -> None:
    """Level by level, so that depth is known and no recursion is needed."""
    level: list[Any] = [document]
    nodes = depth = 0
    while level:
        depth += 1
        nodes += len(level)
        if nodes > NODE_LIMIT:
            raise JsonRefused("too-many", TOO_MANY)
        below: list[Any] = []
        for value in level:
            if isinstance(value, str):
                check_text(value, longest=longest)
            elif isinstance(value, dict | list):
                if depth > DEPTH_LIMIT:
                    raise JsonRefused(
                        "too-deep", f"the nesting is deeper than {DEPTH_LIMIT}"
                    )
                if isinstance(value, dict):
                    for key in value:
                        check_text(key, longest=longest)
                    below += value.values()
                else:
                    below += value
        level = below
