"""Passwords and signatures in addresses."""

from __future__ import annotations

import re
from collections.abc import Iterator

from guidance.core.effort import Effort
from guidance.core.regex import Span, compile_byte_pattern
from guidance.core.secrets.defaults import is_default
from guidance.core.secrets.hits import Hit
from guidance.core.secrets.labels import is_label
from guidance.core.secrets.placeholders import is_filler, is_reference
from guidance.core.secrets.surroundings import is_local_host

_FOUND = compile_byte_pattern(
    r"[A-Za-z][A-Za-z0-9+.-]*://[^ \t\r\n/:@\"'<>`]*:[^ \t\r\n/\"'<>`]+@"
    r"|[?&;]sig=[A-Za-z0-9%+/]{30,}",
    ignore_case=True,
)
# Without it, and without an address that holds an @, there is nothing to be found.
SIGNED = compile_byte_pattern("[?&;]sig=", ignore_case=True)
_HOST = re.compile(r"\[::1\]|[A-Za-z0-9_.-]+")
# Hosts that only stand for one, as in user:password@host.
_NO_HOST = frozenset({"host", "hostname", "server", "domain", "address", "proxy", "ip"})
_PRICE = 30


def scan_addresses(text: str, data: bytes, effort: Effort) -> Iterator[Hit]:
    """Every password or signature in an address."""
    for place in _FOUND.finditer(data):
        effort.spend(_PRICE)
        found = text[place.start : place.end]
        if "://" in found and found.endswith("@"):
            hit = _find_in_address(text, place)
        else:
            start = place.start + len("?sig=")
            hit = Hit(start, place.end, "azure-signature", start)
        if hit is not None:
            yield hit


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
    if (password == user or is_default(password)) and _is_nearby(text, place.end):
        return None
    return Hit(start, end, "url-password", start)


def _is_nearby(text: str, start: int) -> bool:
    """The host that begins here is one's own machine, or only stands for a host."""
    host = _HOST.match(text, start)
    if host is None:
        return False
    name = host[0].lower()
    return name == "[::1]" or name in _NO_HOST or is_local_host(name)
