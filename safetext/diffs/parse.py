"""Reading a unified diff by its structure: hunk headers say how many lines follow.

Inside a hunk the first character of a line says what it is, and nothing else about the
line matters: content that looks like a header stays content.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum


class Row(StrEnum):
    CONTEXT = "context"
    REMOVED = "removed"
    ADDED = "added"
    # A backslash: the line before it does not end with a newline.
    UNENDED = "unended"
    HUNK = "hunk"
    # Lines that begin a file's part: names, modes, kinds.
    HEADER = "header"
    # Whatever else stands between hunks.
    OTHER = "other"


CONTENT = frozenset({Row.CONTEXT, Row.REMOVED, Row.ADDED})
_SIGNS = {" ": Row.CONTEXT, "-": Row.REMOVED, "+": Row.ADDED}


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffLine:
    """`start` and `end` are its offsets in the diff, line end left out.

    `old` and `new` are line numbers on both sides; a hunk's are where it begins.
    """

    kind: Row
    start: int
    end: int
    file: int
    old: int | None = None
    new: int | None = None

    @property
    def text_start(self) -> int:
        """Where the content begins: behind the sign."""
        return min(self.start + 1, self.end) if self.kind in CONTENT else self.start


_HUNK = re.compile(
    r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@", re.ASCII
)
_HEADER = re.compile(
    r"diff --git |index [0-9a-f]|(?:old|new|deleted file|new file) mode |"
    r"(?:rename|copy) (?:from|to) |(?:dis)?similarity index |"
    r"Binary files |GIT binary patch"
)


def read_diff(diff: str) -> list[DiffLine]:
    """Every line of the diff, in order."""
    return [*_Reader(diff).read_lines()]


class _Reader:
    def __init__(self, diff: str) -> None:
        self.diff = diff
        self.file = -1
        # Lines that the hunk still promises on each side, and the next numbers there.
        self.old_left = self.new_left = 0
        self.old = self.new = 0
        # A header of git, or a pair of names, begins a file once.
        self.named = False

    def read_lines(self) -> Iterator[DiffLine]:
        starts = [0, *(found.end() for found in re.finditer("\n", self.diff))]
        if starts[-1] == len(self.diff) and len(starts) > 1:
            starts.pop()
        for start in starts:
            end = self.diff.find("\n", start)
            end = len(self.diff) if end < 0 else end
            yield self.read_line(start, end)

    def read_line(self, start: int, end: int) -> DiffLine:
        if self.old_left or self.new_left:
            kind = self.get_content_kind(start, end)
            if kind is not None:
                return self.read_content(kind, start, end)
            # The hunk does not keep its promise: it ends here.
            self.old_left = self.new_left = 0
        if self.diff.startswith("\\", start):
            return self.build_line(Row.UNENDED, start, end)
        hunk = _HUNK.match(self.diff, start, end)
        if hunk:
            return self.read_hunk(hunk, start, end)
        return self.build_line(self.get_outside_kind(start), start, end)

    def get_content_kind(self, start: int, end: int) -> Row | None:
        """What a line inside a hunk is; None for one that cannot stand there."""
        if start == end:
            # Some programs strip the space of an empty line.
            kind: Row | None = Row.CONTEXT
        elif self.diff[start] == "\\":
            return Row.UNENDED
        else:
            kind = _SIGNS.get(self.diff[start])
        if kind is Row.CONTEXT and not (self.old_left and self.new_left):
            return None
        if kind is Row.REMOVED and not self.old_left:
            return None
        if kind is Row.ADDED and not self.new_left:
            return None
        return kind

    def read_content(self, kind: Row, start: int, end: int) -> DiffLine:
        old = self.old if kind in (Row.CONTEXT, Row.REMOVED) else None
        new = self.new if kind in (Row.CONTEXT, Row.ADDED) else None
        if old is not None:
            self.old, self.old_left = self.old + 1, self.old_left - 1
        if new is not None:
            self.new, self.new_left = self.new + 1, self.new_left - 1
        return self.build_line(kind, start, end, old=old, new=new)

    def read_hunk(self, hunk: re.Match[str], start: int, end: int) -> DiffLine:
        numbers = [1 if part is None else int(part) for part in hunk.groups()]
        self.old, self.old_left, self.new, self.new_left = numbers
        # A side without lines is named by the line before it.
        self.old += not self.old_left
        self.new += not self.new_left
        if self.file < 0:
            self.file = 0
        self.named = False
        return self.build_line(Row.HUNK, start, end, old=self.old, new=self.new)

    def get_outside_kind(self, start: int) -> Row:
        """Outside of hunks, where headers are headers."""
        if self.diff.startswith("diff --git ", start):
            self.file, self.named = self.file + 1, True
            return Row.HEADER
        if self.diff.startswith("--- ", start):
            if not self.named:
                self.file, self.named = self.file + 1, True
            return Row.HEADER
        if self.named and self.diff.startswith("+++ ", start):
            return Row.HEADER
        if _HEADER.match(self.diff, start):
            self.file = max(self.file, 0)
            return Row.HEADER
        return Row.OTHER

    def build_line(
        self,
        kind: Row,
        start: int,
        end: int,
        *,
        old: int | None = None,
        new: int | None = None,
    ) -> DiffLine:
        return DiffLine(
            kind=kind, start=start, end=end, file=max(self.file, 0), old=old, new=new
        )
