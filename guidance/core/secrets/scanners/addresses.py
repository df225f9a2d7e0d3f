"""Credentials in addresses and in Authorization headers."""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator

from guidance.core.effort import Effort
from guidance.core.regex import Span, compile_byte_pattern
from guidance.core.secrets.hits import Hit
from guidance.core.secrets.labels import is_label
from guidance.core.secrets.names import Promise
from guidance.core.secrets.placeholders import is_filler, is_reference
from guidance.core.secrets.values import is_secret_value
from guidance.core.secrets.vocabulary import LOCAL_DEFAULTS

_SCHEMES = "bearer|basic|token|ssws|apikey|negotiate"
_FOUND = compile_byte_pattern(
    r"[A-Za-z][A-Za-z0-9+.-]*://[^ \t\r\n/:@\"'<>`]*:[^ \t\r\n/\"'<>`]+@"
    rf"|(?:{_SCHEMES})[ \t]+[\"']?[A-Za-z0-9._~+/=:-]{{6,}}"
    r"|[?&;]sig=[A-Za-z0-9%+/]{30,}",
    ignore_case=True,
)
# Without it, and without an address that holds an @, there is nothing to be found.
SCHEME = compile_byte_pattern(rf"(?:{_SCHEMES})[ \t]|[?&;]sig=", ignore_case=True)
_HEADER = re.compile(r"(?i)authorization[\"']?\s*[:=,]?\s*[\"']?$")
_SCHEME = re.compile(rf"(?i)({_SCHEMES})[ \t]+[\"']?")
_CREDENTIAL = re.compile(r"[A-Za-z0-9._~+/=:-]{6,}")
_LOOPBACK = re.compile(r"(?:localhost|127\.0\.0\.1|\[::1\]|0\.0\.0\.0)(?![\w.-])")
# Hosts that only stand for one, as in user:password@host.
_NO_HOST = re.compile(
    r"(?i)(?:host(?:name)?|server|domain|addr(?:ess)?|proxy|ip)(?![\w.-])"
)
_STRONG = Promise("authorization", strong=True)
_WEAK = Promise("authorization", strong=False)
_BEARER_LEAST = 16
_PRICE = 30


def scan_addresses(text: str, data: bytes, effort: Effort) -> Iterator[Hit]:
    """Every credential in an address or behind the name of a scheme."""
    for place in _FOUND.finditer(data):
        effort.spend(_PRICE)
        found = text[place.start : place.end]
        if "://" in found and found.endswith("@"):
            hit = _find_in_address(text, place)
        elif found[0] in "?&;":
            start = place.start + len("?sig=")
            hit = Hit(start, place.end, "azure-signature", start)
        else:
            header = _HEADER.search(text, max(0, place.start - 40), place.start)
            span = find_credential(
                text, place.start, place.end, expected=header is not None
            )
            hit = span and Hit(span.start, span.end, "authorization", span.start)
        if hit is not None:
            yield hit


def find_credential(text: str, start: int, end: int, *, expected: bool) -> Span | None:
    """Behind a scheme's name; `expected` where an Authorization header holds it."""
    scheme = _SCHEME.match(text, start, end)
    if scheme is None:
        return None
    begin = scheme.end()
    value = text[begin:end]
    if scheme[1].lower() == "basic":
        secret = _is_basic(value) or (expected and len(value) >= _BEARER_LEAST)
    elif expected:
        secret = is_secret_value(value, _STRONG, style="env")
    else:
        long = scheme[1].lower() == "bearer" and len(value) >= _BEARER_LEAST
        secret = long and is_secret_value(value, _WEAK)
    return Span(begin, end) if secret else None


def _is_basic(value: str) -> bool:
    """The base64 of a name, a colon and a password."""
    try:
        plain = binascii.a2b_base64(value + "=" * (-len(value) % 4))
    except binascii.Error:
        return False
    _, colon, password = plain.partition(b":")
    return bool(colon) and plain.isascii() and bool(password)


def _find_in_address(text: str, place: Span) -> Hit | None:
    user_at = text.index("://", place.start) + 3
    start = text.index(":", user_at) + 1
    end = place.end - 1
    password = text[start:end]
    if "?" in password or "#" in password or is_label(password):
        return None
    if is_filler(password) or is_reference(password) or password.startswith("%s"):
        return None
    user = text[user_at : start - 1]
    if user.startswith("[") or (password.isupper() and user.isupper()):
        return None
    nowhere = _LOOPBACK.match(text, place.end) or _NO_HOST.match(text, place.end)
    if nowhere and (password in LOCAL_DEFAULTS or password == user):
        return None
    return Hit(start, end, "url-password", start)
