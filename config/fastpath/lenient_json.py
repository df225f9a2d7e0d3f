"""JSON as a tool's result is accepted: whatever a tool printed can be told.

Nothing is judged by it and only its beginning is kept, so that odd texts and numbers are
mended instead of refused: an agent must not be halted because it looked at an image.
"""

from __future__ import annotations

import json
import math
from typing import Any

from common.errors import BadEncoding, Malformed

BODY_LIMIT = 8 * 1_048_576
DEPTH_LIMIT = 100
_DIGITS = 15


def parse(raw: bytes) -> Any:
    """The document with every text and number that can be stored."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadEncoding(f"Byte {error.start} is not valid UTF-8.") from None
    try:
        document = _decoder.decode(text)
    except json.JSONDecodeError as error:
        raise Malformed(
            f"Line {error.lineno}, column {error.colno}: {error.msg}."
        ) from None
    except RecursionError:
        raise Malformed(f"The nesting is deeper than {DEPTH_LIMIT}.") from None
    return _mend(document, 0)


def _parse_integer(digits: str) -> int | str:
    return int(digits) if len(digits) <= _DIGITS else digits


def _parse_float(digits: str) -> float | str:
    value = float(digits)
    return value if math.isfinite(value) else digits


_decoder = json.JSONDecoder(
    parse_int=_parse_integer, parse_float=_parse_float, parse_constant=lambda name: name
)


def _mend(value: Any, depth: int) -> Any:
    if depth > DEPTH_LIMIT:
        raise Malformed(f"The nesting is deeper than {DEPTH_LIMIT}.")
    if isinstance(value, str):
        return _clean_text(value)
    if isinstance(value, list):
        return [_mend(item, depth + 1) for item in value]
    if isinstance(value, dict):
        return {_clean_text(key): _mend(item, depth + 1) for key, item in value.items()}
    return value


def _clean_text(text: str) -> str:
    """Without NUL and half surrogates, which no database holds."""
    if "\0" in text:
        text = text.replace("\0", "\ufffd")
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
