"""Text from agents, made safe for a terminal: every character is seen or spelled out."""

from __future__ import annotations

import unicodedata

# They leave no ink, whatever their category says.
_BLANK = frozenset(
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\ufffc"
    + "".join(map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))
)
_HIDDEN = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp", "Zs"})


def make_visible(text: str) -> str:
    """`⟨U+202E⟩` for what would hide, move or colour something; line feeds stay."""
    return "".join(_make_visible(character) for character in text)


def make_one_line(text: str, *, limit: int = 80) -> str:
    """The same on one line, shortened in the middle of nothing."""
    line = " ".join(make_visible(text).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def _make_visible(character: str) -> str:
    if " " <= character <= "~" or character == "\n":
        return character
    # The bracket opens an escape, so that no text can pass for one.
    if (
        character == "⟨"
        or character in _BLANK
        or unicodedata.category(character) in _HIDDEN
    ):
        return f"⟨U+{ord(character):04X}⟩"
    return character
