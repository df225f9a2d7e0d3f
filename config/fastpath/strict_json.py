"""JSON as we accept it: one reading only.

Duplicate keys, NaN, numbers that no database or JavaScript can hold, lone surrogates,
NUL, deep nesting and floods of tiny values are refused before anything looks at the
content: a document that two programs could read differently is never judged.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, NoReturn

from common.errors import BadEncoding, DuplicateKey, Invalid, Malformed

BODY_LIMIT = 1_048_576
DEPTH_LIMIT = 32
NODE_LIMIT = 10_000
STRING_LIMIT = 262_144
INTEGER_LIMIT = 2**53 - 1
_DIGITS = len(str(INTEGER_LIMIT)) + 1


def parse(raw: bytes) -> Any:
    """The document, or the DomainError that says what is wrong with it."""
    if not raw:
        raise Malformed("The body is empty: send one JSON document.")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadEncoding(f"Byte {error.start} is not valid UTF-8.") from None
    if text.startswith("\ufeff"):
        raise BadEncoding("The body begins with a byte order mark: leave it out.")
    _refuse_flood(text)
    try:
        document = _decoder.decode(text)
    except json.JSONDecodeError as error:
        raise Malformed(
            f"Line {error.lineno}, column {error.colno}: {error.msg}."
        ) from None
    except RecursionError:
        raise Malformed(f"The nesting is deeper than {DEPTH_LIMIT}.") from None
    _inspect(document)
    return document


# Also one without its end: no text makes this look at a character twice.
_TEXT = re.compile(r'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)


def _refuse_flood(text: str) -> None:
    """So many commas are as many values; counting them costs less than reading them."""
    if text.count(",") >= NODE_LIMIT and _TEXT.sub("", text).count(",") >= NODE_LIMIT:
        raise _too_many()


def _too_many() -> Malformed:
    return Malformed(f"The document holds more than {NODE_LIMIT:,} values.")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise DuplicateKey("A key stands twice in one object: which one is meant?")
    return result


def _integer(digits: str) -> int:
    if digits == "-0":
        raise Invalid("-0 is not a number that everybody reads alike: send 0.")
    if len(digits) > _DIGITS or abs(value := int(digits)) > INTEGER_LIMIT:
        raise Invalid("A whole number lies outside ±(2^53 - 1).")
    return value


def _float(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise Malformed("A number is too large to be held.")
    if value == 0 and digits.startswith("-"):
        raise Invalid("-0 is not a number that everybody reads alike: send 0.")
    return value


def _constant(name: str) -> NoReturn:
    raise Malformed(f"{name} is not JSON.")


_decoder = json.JSONDecoder(
    object_pairs_hook=_object,
    parse_int=_integer,
    parse_float=_float,
    parse_constant=_constant,
)


def _inspect(document: Any) -> None:
    """Walk level by level, so that depth is known and no recursion is needed."""
    level: list[Any] = [document]
    nodes = depth = 0
    while level:
        depth += 1
        nodes += len(level)
        if nodes > NODE_LIMIT:
            raise _too_many()
        below: list[Any] = []
        for value in level:
            if isinstance(value, str):
                _check_text(value)
            elif isinstance(value, dict | list):
                if depth > DEPTH_LIMIT:
                    raise Malformed(f"The nesting is deeper than {DEPTH_LIMIT}.")
                if isinstance(value, dict):
                    for key in value:
                        _check_text(key)
                    below += value.values()
                else:
                    below += value
        level = below


def _check_text(text: str) -> None:
    if len(text) > STRING_LIMIT:
        raise Malformed(f"A text is longer than {STRING_LIMIT:,} characters.")
    if "\0" in text:
        raise BadEncoding("A text holds the NUL character.")
    if not text.isascii():
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            raise BadEncoding("A text holds half of a surrogate pair.") from None
