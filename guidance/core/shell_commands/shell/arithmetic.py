"""`((…))` and `$((…))`: told from subshells, and read for what they substitute."""

from __future__ import annotations

import re

from guidance.core.shell_commands.origin import cut_origin
from guidance.core.shell_commands.shell.cursor import Cursor
from guidance.core.shell_commands.shell.patterns import ARITHMETIC

_SIGNS = re.compile(r"[()'\"]")
# Nobody calculates in longer texts.
_LONGEST = 2_000


def find_arithmetic_end(cursor: Cursor, at: int) -> int:
    """The place after the closing parentheses, 0 if these are subshells."""
    simple = ARITHMETIC.match(cursor.text, at)
    if simple:
        return simple.end()
    if cursor.text[at : at + 2] != "((":
        return 0
    depth = 0
    place = at
    while match := _SIGNS.search(cursor.text, place, at + _LONGEST):
        cursor.budget.count_step()
        place = match.end()
        if match[0] == "(":
            depth += 1
        elif match[0] == ")":
            depth -= 1
            if depth == 1:
                # The inner one closes: right before the outer one, or it is a subshell.
                return place + 1 if cursor.text[place : place + 1] == ")" else 0
        else:
            place = cursor.text.find(match[0], place) + 1
            if place == 0:
                return 0
    return 0


def make_inner_cursor(cursor: Cursor, start: int, end: int) -> Cursor:
    """A cursor on what stands between the parentheses."""
    first, last = start + 2, end - 2
    return Cursor(
        cursor.text[first:last],
        cut_origin(cursor.origin, first, last),
        cursor.budget,
        cursor.script,
        depth=cursor.depth,
    )
