"""RFC 8785, the JSON Canonicalization Scheme: the same bytes from every language.

Numbers as ECMAScript writes them, keys in the order of their UTF-16 code units, no spaces,
texts as JSON.stringify has them. NaN, infinity and halves of surrogate pairs are refused.
A whole number is written with all its digits: what comes from outside is within ±(2^53 - 1)
(`guidance.core.strict_json`), where they are those of ECMAScript.
"""

from __future__ import annotations

import json
import re
from decimal import Decimal
from json.encoder import c_make_encoder, encode_basestring  # type: ignore[attr-defined]
from typing import Any

# It writes all but a few numbers as it should, and keys by code points, which is another
# order only for those beyond U+FFFF: what differs is mended afterwards (bench steps).
_write = c_make_encoder(
    *(None, json.JSONEncoder().default, encode_basestring, None),
    *(":", ",", True, False, False),
)
_AFTER_NUMBER = ("", ",", "]", "}")
_SMALLEST_PLAIN, _LARGEST_PLAIN = Decimal("1e-6"), Decimal("1e21")
_BEYOND_BMP = re.compile("[\U00010000-\U0010ffff]")
# Numbers that Python writes otherwise end in ".0" or have an exponent.
_EXPONENT = re.compile(r"\de[-+]\d")
_TEXT_OR_NUMBER = re.compile(
    r'"[^"\\]*(?:\\.[^"\\]*)*"|(-?\d+(?:\.0(?!\d)|(?:\.\d+)?e[-+]\d+))'
)


def to_jcs(value: object) -> str:
    """The canonical text, of which the UTF-8 bytes are hashed."""
    text = "".join(_write(value, 0))
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise ValueError("A text holds half of a surrogate pair.") from None
        if _BEYOND_BMP.search(text) and _has_key_beyond_bmp(value):
            text = _write_in_utf16_order(value)
    return _mend_numbers(text)


def write_number(value: float | None) -> str:
    """The same text of a number, or of None, by itself."""
    if value is None:
        return "null"
    text = repr(value)
    if text.endswith(".0"):
        return "0" if text == "-0.0" else text[:-2]
    # An exponent, or what is no number at all.
    return to_jcs(value) if "e" in text or "n" in text else text


def read_as_stored(value: Any) -> Any:
    """The value as an entry gives it back: 1.0 comes back as 1. A row or a digest beside
    the entry is made of it, so that it can be made again of the entry."""
    return json.loads(to_jcs(value)) if _has_decimal(value) else value


def get_utf16_order(key: str) -> bytes:
    return key.encode("utf-16-be", "surrogatepass")


def _mend_numbers(text: str) -> str:
    if _may_have_exponent(text) or (".0" in text and "\\\\" in text):
        return _TEXT_OR_NUMBER.sub(_mend_token, text)
    parts: list[str] = []
    done = counted = quotes = 0
    at = text.find(".0")
    while at >= 0:
        # What may follow a number; within a text anything may stand there.
        if text[at + 2 : at + 3] in _AFTER_NUMBER:
            quotes += text.count('"', counted, at) - text.count('\\"', counted, at)
            counted = at
            if quotes % 2 == 0:
                zero = text[at - 2 : at] == "-0"
                parts.append(text[done : at - 2] + "0" if zero else text[done:at])
                done = at + 2
        at = text.find(".0", at + 2)
    return "".join((*parts, text[done:])) if parts else text


def _may_have_exponent(text: str) -> bool:
    return ("e-" in text or "e+" in text) and _EXPONENT.search(text) is not None


def _mend_token(found: re.Match[str]) -> str:
    return found[0] if found[1] is None else _write_number(found[1])


def _write_number(written: str) -> str:
    """As ECMAScript writes the number that Python writes so."""
    value = Decimal(written)
    if not value:
        return "0"
    if _SMALLEST_PLAIN <= abs(value) < _LARGEST_PLAIN:
        return f"{value:f}".removesuffix(".0")
    digits, _, exponent = written.partition("e")
    return f"{digits}e{int(exponent):+d}"


def _has_decimal(value: object) -> bool:
    if isinstance(value, dict):
        return any(map(_has_decimal, value.values()))
    if isinstance(value, list | tuple):
        return any(map(_has_decimal, value))
    return isinstance(value, float)


def _has_key_beyond_bmp(value: object) -> bool:
    if isinstance(value, dict):
        return any(map(_BEYOND_BMP.search, value)) or any(
            map(_has_key_beyond_bmp, value.values())
        )
    return isinstance(value, list | tuple) and any(map(_has_key_beyond_bmp, value))


def _write_in_utf16_order(value: object) -> str:
    if isinstance(value, dict):
        keys = sorted(value, key=get_utf16_order)
        fields = (
            f"{encode_basestring(key)}:{_write_in_utf16_order(value[key])}"
            for key in keys
        )
        return "{" + ",".join(fields) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(_write_in_utf16_order, value)) + "]"
    return "".join(_write(value, 0))
