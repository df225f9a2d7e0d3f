"""What arguments may hold at most: the same as every body on the wire."""

from __future__ import annotations

import math
import re
from typing import Any

DEPTH_LIMIT = 32
NODE_LIMIT = 10_000
# Beyond it programs do not agree on a whole number.
INTEGER_LIMIT = 2**53 - 1
_DIGITS = len(str(INTEGER_LIMIT)) + 1

TOO_MANY = f"the arguments hold more than {NODE_LIMIT:,} values"

# Also one without its end: no text makes this look at a character twice.
_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)


class Refused(ValueError):
    """JSON, but nothing that everybody reads alike; where it stands is found later."""


def integer(digits: str) -> int:
    """A whole number as JSON writes it."""
    if digits == "-0":
        raise Refused("-0 is not a number that everybody reads alike: send 0")
    if len(digits) > _DIGITS or abs(value := int(digits)) > INTEGER_LIMIT:
        raise Refused("a whole number lies outside ±(2^53 - 1): send it as a string")
    return value


def decimal(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise Refused("a number is too large to be held")
    if value == 0 and digits.startswith("-"):
        raise Refused("-0 is not a number that everybody reads alike: send 0")
    return value


def checked_text(text: str) -> str:
    if "\0" in text:
        raise Refused("a text holds the NUL character")
    if not text.isascii():
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            raise Refused("a text holds half of a surrogate pair") from None
    return text


def is_flood(text: str) -> bool:
    """So many commas are as many values; counting them costs less than reading them."""
    commas = text.count(",")
    return commas >= NODE_LIMIT and _STRING.sub("", text).count(",") >= NODE_LIMIT


def check_size(document: Any) -> None:
    """Level by level, so that depth is known and no recursion is needed."""
    level: list[Any] = [document]
    nodes = depth = 0
    while level:
        depth += 1
        nodes += len(level)
        if nodes > NODE_LIMIT:
            raise Refused(TOO_MANY)
        below: list[Any] = []
        for value in level:
            if isinstance(value, str):
                checked_text(value)
            elif isinstance(value, dict | list):
                if depth > DEPTH_LIMIT:
                    raise Refused(f"the nesting is deeper than {DEPTH_LIMIT}")
                if isinstance(value, dict):
                    for key in value:
                        checked_text(key)
                    below += value.values()
                else:
                    below += value
        level = below
