"""Text from agents and people, made safe to read: nothing in it stays unseen.

Markup is the templates' business (they escape); this is about characters that a
browser obeys instead of showing: controls, bidirectional marks, zero-width joints.
"""

from __future__ import annotations

import re
import unicodedata

# Format, control, surrogate, private use, unassigned, line and paragraph separators.
# Any space but the plain one: it looks like a space and is none to a shell.
_UNSEEN = frozenset({"Cf", "Cc", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"})
_FOLDED = re.compile(r"[ \t\n]+")
_KEPT = frozenset("\n\t")
# Letters and marks by category, blank to the eye: fillers and variation selectors.
_BLANK = frozenset(
    map(chr, (0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0, 0x2800))
) | frozenset(map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))


def visible(text: str) -> str:
    """The text with every unseen character written out, as in ⟨U+202E⟩."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_shown, text))


def visible_line(text: str, *, limit: int = 300) -> str:
    """The same on one line, cut to a length a row can carry."""
    cut = text if len(text) <= limit else text[: limit - 1] + "…"
    # Only what wraps anyway is folded; every other kind of space is shown for itself.
    return visible(_FOLDED.sub(" ", cut).strip(" "))


def _shown(character: str) -> str:
    if character in _KEPT or character == " ":
        return character
    if character in _BLANK or unicodedata.category(character) in _UNSEEN:
        return f"⟨U+{ord(character):04X}⟩"
    return character
