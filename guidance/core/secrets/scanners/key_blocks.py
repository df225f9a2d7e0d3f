"""Blocks of private keys: PEM of every kind, PGP, SSH2, PuTTY."""

from __future__ import annotations

import re
from collections.abc import Iterator

from guidance.core.effort import Effort
from guidance.core.regex import Span, compile_byte_pattern
from guidance.core.secrets.hits import Hit

KIND = "private-key"
_PRICE = 10

_MARKS = compile_byte_pattern(
    r"-----(?:BEGIN|END) [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----"
    r"|---- (?:BEGIN|END) SSH2 ENCRYPTED PRIVATE KEY ----"
    r"|PuTTY-User-Key-File-[0-9]:|Private-(?:MAC|Hash):[ \t]*[0-9a-f]*"
)
# Without it there is no block.
KEY_NAMED = compile_byte_pattern("PRIVATE KEY|PuTTY-User-Key")
# No program writes a key under such a name.
_MADE_UP = re.compile(rb"\b(?:TEST|FAKE|DUMMY|EXAMPLE|SAMPLE|MOCK)\b")
# An Ed25519 key, the shortest there is, takes 64 characters.
_SHORTEST = 48
_NO_BASE64 = re.compile(rb"\\[nrt]|[^A-Za-z0-9+/]")
_ENDS = (b"-----E", b"---- E", b"Priv")
# What a block without its end consists of: headers, base64, line ends (also written as
# escapes), and the quotes and signs of strings put together.
_BODY = compile_byte_pattern(
    r"(?:[ \t\r\n\"'`+,]|\\[nrt]|\\\r?\n|[A-Za-z0-9+/=]+"
    r"|(?:Proc-Type|DEK-Info|Version|Comment|Encryption|Public-Lines|Private-Lines):[^\n\\]*)*"
)


def scan_key_blocks(data: bytes, effort: Effort) -> Iterator[Hit]:
    """Every block, also one whose end is missing; a lone first line counts."""
    begun: Span | None = None
    for mark in _MARKS.finditer(data):
        effort.spend(_PRICE)
        if data.startswith(_ENDS, mark.start):
            if begun is not None and not _is_sample(data[begun.end : mark.start]):
                yield Hit(begun.start, mark.end, KIND, begun.end, mark.start)
            begun = None
            continue
        if begun is not None:
            yield _find_endless(data, begun)
        begun = None if _MADE_UP.search(data[mark.start : mark.end]) else mark
    if begun is not None:
        yield _find_endless(data, begun)


def _is_sample(body: bytes) -> bool:
    """Too little for a key of any kind, and not a secret of another one."""
    plain = _NO_BASE64.sub(b"", body)
    return len(body) < _SHORTEST * 2 and len(plain) < _SHORTEST


def _find_endless(data: bytes, begun: Span) -> Hit:
    body = _BODY.match(data, begun.end)
    return Hit(begun.start, body.end if body else begun.end, KIND, begun.end)
