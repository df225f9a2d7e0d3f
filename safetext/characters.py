"""Which characters are seen for themselves, and how every other one is written out.

Allowed are letters, marks, digits, punctuation and symbols that leave ink on the
screen, the plain space, the tab and the line feed. Everything else becomes an escape.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from enum import StrEnum
from functools import lru_cache


class Invisible(StrEnum):
    """Why a character is not shown as it stands."""

    DIRECTION = "direction"
    WIDTH = "width"
    TAG = "tag"
    VARIATION = "variation"
    BLANK = "blank"
    SPACE = "space"
    BREAK = "break"
    RETURN = "return"
    CONTROL = "control"
    FORMAT = "format"
    PRIVATE = "private"
    UNASSIGNED = "unassigned"
    SURROGATE = "surrogate"
    MARK = "mark"
    BRACKET = "bracket"


# A letter carries this many marks at most: Vietnamese needs two, pointed Hebrew four.
MOST_MARKS = 4
# Opens every escape, so that no text can pass for one: standing in a text it is escaped
# itself. Those that look like it are, where an escape would seem to begin.
OPENING = "⟨"
_LIKE_OPENING = "\u2329\u3008\u276c\u2770\u2039\u27ea\u300a"

_DIRECTION = frozenset(
    "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
)
_WIDTH = frozenset("\u180e\u200b\u200c\u200d\u2060\u2061\u2062\u2063\u2064\ufeff\u034f")
_BREAK = frozenset("\x0b\x0c\x85\u2028\u2029")
# Letters, marks and symbols by category that leave no ink.
_BLANK = frozenset(
    "\u00ad\u115f\u1160\u17b4\u17b5\u2800\u2d7f\u3164\uffa0\ufffc"
    "\U0001107f\U00016fe4\U0001d159"
)
_VARIATION = frozenset(
    map(chr, (*range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)))
) - {"\u180e"}
_BY_CATEGORY = {
    "Cc": Invisible.CONTROL,
    "Cf": Invisible.FORMAT,
    "Cn": Invisible.UNASSIGNED,
    "Co": Invisible.PRIVATE,
    "Cs": Invisible.SURROGATE,
    "Zl": Invisible.BREAK,
    "Zp": Invisible.BREAK,
    "Zs": Invisible.SPACE,
}
# Controls have no names of their own in the character database.
_CONTROLS = {
    "\x00": "NULL",
    "\x07": "BELL",
    "\x08": "BACKSPACE",
    "\t": "TAB",
    "\n": "LINE FEED",
    "\x0b": "VERTICAL TAB",
    "\x0c": "FORM FEED",
    "\r": "CARRIAGE RETURN",
    "\x1a": "SUBSTITUTE",
    "\x1b": "ESCAPE",
    "\x7f": "DELETE",
    "\x85": "NEXT LINE",
}

_NAMELESS = {
    "Cc": "CONTROL",
    "Cn": "UNASSIGNED",
    "Co": "PRIVATE USE",
    "Cs": "SURROGATE",
}

# One of them, and all that are equal to it right behind.
_NOT_PLAIN = re.compile(r"([^\x20-\x7e\n\t])\1*")
_SEEMS_OPENING = re.compile(rf"[{_LIKE_OPENING}](?=U\+|[0-9])")


@lru_cache(maxsize=4096)
def get_reason(character: str) -> Invisible | None:
    """Why this character is never shown as it stands; None for one that is seen."""
    if character in " \n\t":
        return None
    for reason, members in (
        (Invisible.BRACKET, OPENING),
        (Invisible.RETURN, "\r"),
        (Invisible.DIRECTION, _DIRECTION),
        (Invisible.WIDTH, _WIDTH),
        (Invisible.BREAK, _BREAK),
        (Invisible.BLANK, _BLANK),
        (Invisible.VARIATION, _VARIATION),
    ):
        if character in members:
            return reason
    if "\U000e0000" <= character <= "\U000e007f":
        return Invisible.TAG
    return _BY_CATEGORY.get(unicodedata.category(character))


@lru_cache(maxsize=4096)
def is_mark(character: str) -> bool:
    return unicodedata.category(character).startswith("M")


def find_invisible(text: str) -> Iterator[tuple[int, Invisible]]:
    """Where a character has to be escaped, and why."""
    for start, end, reason in find_invisible_runs(text):
        for at in range(start, end):
            yield at, reason


def find_invisible_runs(text: str) -> Iterator[tuple[int, int, Invisible]]:
    """Where equal characters side by side have to be escaped, and why."""
    if text.isascii() and text.isprintable():
        return
    behind, stacked, held = -1, 0, False
    for found in _NOT_PLAIN.finditer(text):
        (start, end), character = found.span(), found[1]
        reason = get_reason(character)
        if reason is None and is_mark(character):
            if start != behind:
                # The first mark: what stands before it is plain, or nothing.
                stacked, held = 0, start > 0 and text[start - 1] not in " \n\t"
            room = max(MOST_MARKS - stacked, 0) if held else 0
            stacked += end - start
            start, reason = start + room, Invisible.MARK
        elif reason is None:
            stacked, held = 0, True
            # Only the last one of them can have the beginning of an escape behind it.
            start = end - 1
            if _SEEMS_OPENING.match(text, start):
                reason, held = Invisible.BRACKET, False
        else:
            stacked, held = 0, False
        behind = end
        if reason is not None and start < end:
            yield start, end, reason


def format_code_point(character: str) -> str:
    return f"U+{ord(character):04X}"


def get_name(character: str) -> str:
    """Its name in capitals, for want of one what kind of character it is."""
    named = _CONTROLS.get(character) or unicodedata.name(character, "")
    return named or _NAMELESS.get(unicodedata.category(character), "UNNAMED")


def describe(character: str) -> str:
    """As in `U+202E RIGHT-TO-LEFT OVERRIDE`."""
    return f"{format_code_point(character)} {get_name(character)}"


def escape(character: str) -> str:
    """As in `⟨U+202E⟩`."""
    return f"{OPENING}{format_code_point(character)}⟩"
