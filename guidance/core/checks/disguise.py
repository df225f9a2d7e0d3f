"""Lines that a reader takes for a FAIL, however they are written.

A FAIL is looked for with a wide net, so that no PASS is believed beside one: through
quotes, list signs and tables, letters that look alike, and characters that nobody sees.
"""

from __future__ import annotations

import re
import unicodedata

from guidance.core.shell_commands.characters import find_deceiving

# Letters of other scripts that look like those of the words below.
_ALIKE = {
    ord(char): letter
    for letter, chars in {
        "A": "\u0391\u03b1\u0410\u0430\u13aa\ua4ee\u1d00\u0251",
        "D": "\u13a0\ua4d3\u1d05\u0501",
        "E": "\u0395\u03b5\u0415\u0435\u13ac\ua4f0\u1d07\u2c88",
        "F": "\u03dc\u0492\ua4dd\ua730",
        "G": "\u050c\u13c0\ua4d6\u0262",
        "I": "\u0399\u03b9\u0406\u0456\u04c0\u04cf\ua4f2\u026a\u0131\u01c0\u2223",
        "L": "\u13de\ua4e1\u029f\u2cd0",
        "R": "\u042f\u0280\u13a1\u13d2\ua4e3",
        "T": "\u0422\u0442\u03a4\u03c4\u13a2\ua4d4\u1d1b",
        "V": "\u0474\u0475\u13d9\ua4e6\u1d20",
        "W": "\u051c\u051d\u13b3\ua4ea\u1d21",
    }.items()
    for char in chars
}
# Letters by their class, and yet nothing to be seen.
_FILLERS = {0x115F, 0x1160, 0x3164, 0xFFA0}
_UNSEEN = {"Cc", "Cf", "Mn", "Me"}


class _Plain(dict[int, int | str | None]):
    """For each character the one that it looks like, worked out when first met."""

    def __missing__(self, code: int) -> int | str | None:
        self[code] = plain = _find_plain_letter(code)
        return plain


def _find_plain_letter(code: int) -> int | str | None:
    if code < 0x80:
        return code
    if code in _FILLERS or unicodedata.category(chr(code)) in _UNSEEN:
        return None
    if code in _ALIKE:
        return _ALIKE[code]
    # The letter without accents, circles, width or style.
    base = unicodedata.normalize("NFKD", chr(code))[0]
    return base if base.isascii() else code


# What is repeated endlessly ends before what follows it: searching takes linear time.
_GAP = r"[^A-Z\n]{0,3}"
# The word of a verdict, also with its letters apart, and with those that look like I.
_LOOSE = rf"F{_GAP}A{_GAP}[IL1|!]{_GAP}L(?:ED|S|URE)?(?![A-Z])"
# Nothing more, or a reason. The hyphen of fail-safe and the count of "Fail: 0" are none.
_END = (
    r"(?![^A-Z0-9\n]*0[^A-Z0-9\n]*$)(?=[^A-Z\n]*$|[ \t*_`]*[:|\u2010-\u2015\u2212]"
    r"|[*_`]*[ \t]+[*_`]*-|[*_`]*-+[ \t])"
)
_FAIL = re.compile(
    # After one of the words that announce a verdict, whatever follows;
    rf"^[^A-Z\n]*(?:(?:GATE|REVIEW|VERDICTS?|OVERALL|FINAL)[^A-Z\n]*)+{_LOOSE}"
    # at the start of a line, or behind its number;
    rf"|^[^A-Z\n]*(?:FAIL|(?:(?<=[\].)])|(?<=[\].)] ))FAIL(?:ED|S|URE)){_END}"
    # and in the middle of a line, where the whole mark stands before it.
    rf"|GATE[^A-Z\n]*REVIEW[^A-Z\n]*{_LOOSE}",
    re.MULTILINE,
)


def find_first_fail(text: str) -> int | None:
    """The number of the first line that holds something like a FAIL, from 1."""
    seen = _render_as_seen(text)
    found = _FAIL.search(seen)
    return None if found is None else seen.count("\n", 0, found.start()) + 1


def opens_with_fail(line: str) -> bool:
    return _FAIL.match(_render_as_seen(line)) is not None


def find_hidden_problem(text: str) -> str | None:
    """Why the text may look other than it is, None if it cannot."""
    found = find_deceiving(text)
    if found is None:
        return None
    return f"holds U+{ord(found[0]):04X}, which hides or reorders what is written"


def _render_as_seen(text: str) -> str:
    """The text as it looks, in capitals; every line stays a line."""
    return (text if text.isascii() else text.translate(_Plain())).upper()
