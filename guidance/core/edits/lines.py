"""The lines of a text and their places; a line ends with LF, CRLF or a lone CR.

Other characters that some programs take for line ends are ordinary ones here.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate

BOM = "\ufeff"

_ENDING = re.compile(r"(\r\n|\n|\r)")


class Lines:
    """A text cut into lines: what they say, where they start, end, and end with ending.

    What follows the last ending is a line if it is not empty. A byte order mark belongs
    to the file, not to its first line.
    """

    __slots__ = ("afters", "contents", "ends", "starts", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        begin = len(BOM) if text.startswith(BOM) else 0
        if "\r" in text:
            self._mixed(text[begin:], begin)
        else:
            self._plain(text[begin:], begin)

    def _plain(self, text: str, begin: int) -> None:
        """The same with LF alone, which is found at once."""
        self.contents = text.split("\n")
        whole = not self.contents[-1]
        if whole:
            self.contents.pop()
        places = accumulate((len(line) + 1 for line in self.contents), initial=begin)
        self.starts = list(places)
        self.afters = self.starts[1:]
        self.starts.pop()
        self.ends = [after - 1 for after in self.afters]
        if not whole:
            self.afters[-1] = self.ends[-1] = begin + len(text)

    def _mixed(self, text: str, begin: int) -> None:
        # A line, its ending, a line, its ending, …, and what follows the last one.
        parts = _ENDING.split(text)
        if parts[-1]:
            parts.append("")
        else:
            parts.pop()
        places = list(accumulate(map(len, parts), initial=begin))
        self.contents = parts[0::2]
        self.starts = places[0:-1:2]
        self.ends = places[1::2]
        self.afters = places[2::2]

    def place(self, at: int) -> tuple[int, int]:
        """Line and column of a character, counted from 1."""
        number = bisect_right(self.afters, at)
        start = self.starts[number] if number < len(self.starts) else self.after_all
        if number == len(self.starts) and self.ends and self.ends[-1] == start:
            # At the end of a last line without an ending.
            number, start = number - 1, self.starts[-1]
        return number + 1, max(0, at - start) + 1

    @property
    def after_all(self) -> int:
        return self.afters[-1] if self.afters else 0

    def ending_at(self, start: int, end: int) -> str:
        """The line ending in use there: within, else after, else before the place."""
        within = _ENDING.search(self.text, start, end)
        if within is not None:
            return within[0]
        # Only the last line may be without one.
        after = bisect_right(self.afters, end)
        if after < len(self.ends) and self.ends[after] < self.afters[after]:
            return self.text[max(end, self.ends[after]) : self.afters[after]]
        before = bisect_right(self.afters, start) - 1
        if before < 0:
            return "\n"
        return self.text[self.ends[before] : self.afters[before]] or "\n"
