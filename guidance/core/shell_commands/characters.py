"""Characters that make a command look like another one."""

from __future__ import annotations

import re
from collections.abc import Container

from guidance.core.regex import compile_byte_pattern

# Direction marks that reorder the line, and control characters that overwrite it. One
# class and nothing else, for that is what a search is fast with.
_SUSPECT = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
# The same for a text in ASCII.
SUSPECT = compile_byte_pattern("[\x00-\x08\x0b-\x1f\x7f]")
# Carriage returns are fine before a line feed.
_DECEIVING = re.compile(
    _SUSPECT.pattern.replace("\x0b-", "\x0b\x0c\x0e-") + "|\r(?!\n)"
)
# Nothing to be seen, or a blank that the shell does not take for one.
_INVISIBLE = re.compile(
    "[\u00a0\u00ad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f"
    "\u2000-\u200f\u2028\u2029\u202f\u205f-\u2064\u206a-\u206f\u2800\u3000\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e01ef]"
)
# Letters of other scripts that look like those of command names.
_LOOKALIKES = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0445\u0443\u0456\u0458\u0455\u0501\u051b\u051d"
    "\u04bb\u043c\u0442\u043a\u043d\u0432\u0433\u0434\u0131\u026d\u0261"
    "\u03b1\u03bf\u03c1\u03bd\u03ba\u03b9\u03c4\u03c5\u03c7\u03b7\u03bc\u0420\u041c"
    "\u0422\u0410\u0415\u041e\u0421\u041d\u041a\u0412\u0425\u03a1\u039c\u03a4",
    "aeopcxyijsdqwhmtkhbrdilgaopvkituxnmpmtaeochkbxpmt",
)
# No program has a longer name, so none can be mistaken for one.
_LONGEST_NAME = 64
_FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
# Mathematical letters: thirteen alphabets of twice twenty-six.
_MATHEMATICAL = {
    0x1D400 + index: ord("Aa"[index % 52 // 26]) + index % 26
    for index in range(13 * 52)
}


def find_deceiving(text: str) -> re.Match[str] | None:
    """The first character that hides or reorders what stands around it."""
    return _DECEIVING.search(text) if _SUSPECT.search(text) else None


def is_disguised(name: str, known: Container[str]) -> bool:
    """Does the name hold something invisible, or look like one that is known?"""
    if name.isascii() or len(name) > _LONGEST_NAME:
        return False
    return _INVISIBLE.search(name) is not None or _render_plain(name) in known


def _render_plain(name: str) -> str:
    """The name that a reader takes it for."""
    name = name.translate(_FULL_WIDTH).translate(_MATHEMATICAL)
    return name.translate(_LOOKALIKES).lower()
