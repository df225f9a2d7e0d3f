"""Long content in pages: what a person rules on, they have been served in full."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from safetext.characters import is_mark
from safetext.folding import BLANK_LINES, find_unfolded_escapes, is_blank

# Bytes of UTF-8, lines, and escapes: about what a person reads in one go, and a browser
# lays out at once.
PAGE = 16 * 1024
ROWS = 600
ESCAPES = 1_000
_STACK = 64
# The bytes of UTF-8 that continue a character.
_CONTINUING = bytes(range(0x80, 0xC0))


def split_pages(text: str) -> list[tuple[int, int]]:
    """Where the pages begin and end; joined they are the text. There is always one.

    The same text always has the same pages.
    """
    made: list[tuple[int, int]] = []
    start = 0
    while True:
        end = _find_page_end(text, start)
        made.append((start, end))
        if end == len(text):
            return made
        start = end


def count_rows(text: str) -> int:
    """How many rows a text takes at most: equal blank lines are folded into one."""
    return sum(rows for _, rows, _ in _group_lines(text))


def _group_lines(text: str) -> Iterator[tuple[int, int, int]]:
    """Equal lines together: how many, the rows they take, the length of each."""
    for line, same in groupby(text.split("\n")):
        count = len([*same])
        rows = min(count, BLANK_LINES + 1) if is_blank(line) else count
        yield count, rows, len(line) + 1


def _find_row_end(text: str, start: int, end: int) -> int:
    """The end, or where the lines that fit on a page end before it."""
    left, at = ROWS, start
    for count, rows, length in _group_lines(text[start:end]):
        if rows > left:
            return at + left * length
        left -= rows
        at += count * length
    return end


def _find_escape_end(text: str, start: int, end: int) -> int:
    """The end, or where the escapes that fit on a page end before it."""
    left = ESCAPES
    for at, count in find_unfolded_escapes(text[start:end]):
        if count > left:
            return start + at + left
        left -= count
    return end


def _find_page_end(text: str, start: int) -> int:
    # A character is one byte at least, so that this much holds a page.
    ahead = text[start : start + PAGE].encode("utf-8", "surrogatepass")
    if len(ahead) > PAGE:
        # A character begins with each byte that continues none; the last one counted
        # here stands on the next page.
        reached = start + len(ahead[: PAGE + 1].translate(None, _CONTINUING)) - 1
    else:
        reached = min(start + PAGE, len(text))
    full = _find_escape_end(text, start, _find_row_end(text, start, reached))
    if full < reached:
        return full
    if reached >= len(text):
        return len(text)
    # Half a page may be left over for the sake of a whole line, or a whole word.
    half = (start + reached) // 2
    line = text.rfind("\n", half, reached) + 1
    if line > start:
        return line
    word = text.rfind(" ", half, reached)
    if word > start:
        return word
    # Marks stay with their letter, unless there is no end of them.
    for end in range(reached, max(reached - _STACK, start), -1):
        if not is_mark(text[end]):
            return end
    return reached
