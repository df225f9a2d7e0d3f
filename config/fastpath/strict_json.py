"""JSON as we accept it: one reading only.

Duplicate keys, NaN, numbers that no database or JavaScript can hold, lone surrogates,
NUL, deep nesting and floods of tiny values are refused before anything looks at the
content: a document that two programs could read differently is never judged.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NoReturn

from common.errors import BadEncoding, DomainError, DuplicateKey, Invalid, Malformed
from guidance.core.strict_json import (
    DEPTH_LIMIT,
    NODE_LIMIT,
    JsonRefused,
    check_size,
    is_flood,
    is_plainly_small,
    parse_decimal,
    parse_integer,
)

BODY_LIMIT = 1_048_576
STRING_LIMIT = 262_144
_TOO_MANY = f"The document holds more than {NODE_LIMIT:,} values."
_TOO_DEEP = f"The nesting is deeper than {DEPTH_LIMIT}."
_ZERO = "-0 is not a number that everybody reads alike: send 0."
# What the core refuses about any JSON, as an answer to a request.
_ERRORS: Mapping[str, tuple[type[DomainError], str]] = {
    "infinite": (Malformed, "A number is too large to be held."),
    "integer-range": (Invalid, "A whole number lies outside ±(2^53 - 1)."),
    "negative-zero": (Invalid, _ZERO),
    "nul": (BadEncoding, "A text holds the NUL character."),
    "surrogate": (BadEncoding, "A text holds half of a surrogate pair."),
    "too-deep": (Malformed, _TOO_DEEP),
    "too-long": (Malformed, f"A text is longer than {STRING_LIMIT:,} characters."),
    "too-many": (Malformed, _TOO_MANY),
}


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
    if is_flood(text):
        raise Malformed(_TOO_MANY)
    try:
        document = _decoder.decode(text)
        if not is_plainly_small(text, longest=STRING_LIMIT):
            check_size(document, longest=STRING_LIMIT)
    except json.JSONDecodeError as error:
        raise Malformed(
            f"Line {error.lineno}, column {error.colno}: {error.msg}."
        ) from None
    except RecursionError:
        raise Malformed(_TOO_DEEP) from None
    except JsonRefused as refused:
        error_class, message = _ERRORS[refused.reason]
        raise error_class(message) from None
    return document


def _build_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise DuplicateKey("A key stands twice in one object: which one is meant?")
    return result


def _refuse_constant(name: str) -> NoReturn:
    raise Malformed(f"{name} is not JSON.")


_decoder = json.JSONDecoder(
    object_pairs_hook=_build_object,
    parse_int=parse_integer,
    parse_float=parse_decimal,
    parse_constant=_refuse_constant,
)
