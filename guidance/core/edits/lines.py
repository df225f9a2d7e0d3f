"""The lines of a text and their places; a line ends with LF, CRLF or a lone CR.

Other characters that some programs take for line ends are ordinary ones here.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate, count
from operator import add

BOM = "\ufeff"

_ENDING = re.compile(r"\r\n|\n|\r")


def split_contents(text: str) -> list[str]:
    """What the lines say. What follows the last ending is one if it is not empty.

    A byte order mark belongs to the file, not to its first line.
    """
    text = text.removeprefix(BOM).replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


class Lines:
    """A text cut into lines: what they say, where they start, end, and end with ending."""

    __slots__ = ("_afters", "_begin", "contents", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._begin = len(BOM) if text.startswith(BOM) else 0
        self.contents = split_contents(text)
        # Each ending as one LF, and no character more or less.
        text = text[self._begin :].replace("\r\n", " \n").replace("\r", "\n")
        sized = text.split("\n")
        if len(sized) > len(self.contents):
            sized.pop()
        ends = accumulate(map(len, sized))
        self._afters: list[int] = [*map(add, ends, count(self._begin + 1))]
        if sized and not text.endswith("\n"):
            self._afters[-1] = len(self.text)

    def start(self, number: int) -> int:
        return self._afters[number - 1] if number else self._begin

    def end(self, number: int) -> int:
        return self.start(number) + len(self.contents[number])

    def get_next_start(self, number: int) -> int:
        """Where the next line starts, if there is one."""
        return self._afters[number]

    def get_place(self, at: int) -> tuple[int, int]:
        """Line and column of a character, counted from 1."""
        number = bisect_right(self._afters, at)
        last = len(self.contents) - 1
        if number > last >= 0 and self.end(last) == at:
            # At the end of a last line without an ending.
            number = last
        return number + 1, max(0, at - self.start(number)) + 1

    def get_ending(self, start: int, end: int) -> str:
        """The line ending in use there: within, else after, else before the place."""
        within = _ENDING.search(self.text, start, end)
        if within is not None:
            return within[0]
        # Only the last line may be without one.
        after = bisect_right(self._afters, end)
        if after < len(self.contents) and self.end(after) < self.get_next_start(after):
            return self.text[max(end, self.end(after)) : self.get_next_start(after)]
        before = bisect_right(self._afters, start) - 1
        if before < 0:
            return "\n"
        return self.text[self.end(before) : self.get_next_start(before)] or "\n"
