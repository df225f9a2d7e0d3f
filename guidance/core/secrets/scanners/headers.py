"""Credentials in Authorization headers, and behind the name of a scheme."""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator

from guidance.core.effort import Effort
from guidance.core.regex import Span, compile_byte_pattern
from guidance.core.secrets.hits import Hit
from guidance.core.secrets.names import Promise
from guidance.core.secrets.values import is_secret_value
from guidance.core.secrets.words import is_ordinary_word

_SCHEMES = "bearer|basic|token|ssws|apikey|negotiate"
_CREDENTIAL = "[A-Za-z0-9._~+/=:-]{6,}"
# A header may go on in the next line, as long commands do.
_FOLD = r"(?:[ \t]|\\?\r?\n[ \t]*)"
_FOUND = compile_byte_pattern(
    rf"authorization[\"'`]?[ \t]*[:=,]{_FOLD}*[\"'`]?[A-Za-z][A-Za-z0-9-]*{_FOLD}+"
    rf"(?:[a-z_]+=)?[\"']?{_CREDENTIAL}"
    rf"|(?:{_SCHEMES})[ \t]+[\"']?{_CREDENTIAL}",
    ignore_case=True,
)
# Without it there is neither a scheme nor a header with one.
SCHEME = compile_byte_pattern(rf"(?:{_SCHEMES})[ \t]|authorization", ignore_case=True)
_HEADER = re.compile(rf"(?i)authorization[\"'`]?[ \t]*[:=,]{_FOLD}*[\"'`]?(?=[A-Za-z])")
_SCHEME = re.compile(rf"(?i)([a-z][a-z0-9-]*){_FOLD}+(?:[a-z_]+=)?([\"']?)")
_KNOWN = frozenset(_SCHEMES.split("|"))
_STRONG = Promise("authorization", strong=True)
_WEAK = Promise("authorization", strong=False, by_uuid=True)
_BEARER_LEAST = 16
_PRICE = 30


def scan_headers(text: str, data: bytes, effort: Effort) -> Iterator[Hit]:
    """Every credential behind the name of a scheme."""
    for place in _FOUND.finditer(data):
        effort.spend(_PRICE)
        header = _HEADER.match(text, place.start, place.end)
        start = header.end() if header else place.start
        span = find_credential(text, start, place.end, expected=header is not None)
        if span is not None:
            yield Hit(span.start, span.end, "authorization", span.start)


def find_credential(text: str, start: int, end: int, *, expected: bool) -> Span | None:
    """Behind a scheme's name; `expected` where an Authorization header holds it."""
    scheme = _SCHEME.match(text, start, end)
    if scheme is None:
        return None
    begin = scheme.end()
    value = text[begin:end]
    if scheme[2] and value[:1] in "+.":
        # 'Bearer '+token: the program puts it there.
        return None
    name = scheme[1].lower()
    if name == "basic":
        secret = _is_basic(value) or (expected and len(value) >= _BEARER_LEAST)
    elif expected:
        promised = _STRONG if name in _KNOWN else _WEAK
        # A word alone is prose about the header.
        secret = not is_ordinary_word(value) and is_secret_value(
            value, promised, style="env"
        )
    else:
        long = name == "bearer" and len(value) >= _BEARER_LEAST
        secret = long and is_secret_value(value, _WEAK._replace(by_uuid=False))
    return Span(begin, end) if secret else None


def _is_basic(value: str) -> bool:
    """The base64 of a name, a colon and a password."""
    try:
        plain = binascii.a2b_base64(value + "=" * (-len(value) % 4))
    except binascii.Error:
        return False
    _, colon, password = plain.partition(b":")
    return bool(colon) and plain.isascii() and bool(password)
