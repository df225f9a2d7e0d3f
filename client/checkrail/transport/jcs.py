"""RFC 8785, the JSON Canonicalization Scheme: of what the server's digests are made.

Numbers as ECMAScript writes them, keys in the order of their UTF-16 code units, no spaces.
"""

from __future__ import annotations

import json
import math


def to_jcs(value: object) -> str:
    """The canonical text; NaN, infinity and halves of surrogate pairs are refused."""
    if isinstance(value, dict):
        keys = sorted(value, key=lambda key: key.encode("utf-16-be", "surrogatepass"))
        fields = (f"{to_jcs(key)}:{to_jcs(value[key])}" for key in keys)
        return "{" + ",".join(fields) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(to_jcs, value)) + "]"
    if isinstance(value, float):
        return _write_number(value)
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("A text holds half of a surrogate pair.") from None
    return text


def _write_number(value: float) -> str:
    """The shortest digits that give the number again, as ECMAScript sets them."""
    if not math.isfinite(value):
        raise ValueError(f"{value} is not JSON.")
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    mantissa, _, exponent = repr(abs(value)).partition("e")
    whole, _, part = mantissa.partition(".")
    # The number is 0.DIGITS times ten to the power of `point`.
    digits = (whole + part).lstrip("0")
    point = len(whole) + int(exponent or 0) - (len(whole + part) - len(digits))
    digits = digits.rstrip("0")
    if 0 < point <= 21:
        whole, part = digits[:point].ljust(point, "0"), digits[point:]
        return sign + whole + (f".{part}" if part else "")
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    part = f".{digits[1:]}" if digits[1:] else ""
    return f"{sign}{digits[0]}{part}e{point - 1:+d}"
