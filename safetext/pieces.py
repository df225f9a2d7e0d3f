"""The first cut through a text: by how its characters are shown, and nothing else."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from safetext.characters import unseen
from safetext.folding import Fold, folds
from safetext.marks import Layer, Mark, borders_of, unbroken


class Kind(StrEnum):
    PLAIN = "plain"
    ESCAPE = "escape"
    FOLD = "fold"
    TAB = "tab"
    # Spaces and tabs that nothing follows on their line.
    EDGE = "edge"
    # A word of a script that runs from right to left, isolated from its neighbours.
    BACKWARDS = "backwards"
    NEWLINE = "newline"


Layout = Callable[[str, int, int], Iterator["Piece"]]
# Shown in one piece, whatever runs through them.
_ONE = frozenset({Kind.ESCAPE, Kind.FOLD, Kind.NEWLINE})


@dataclass(frozen=True, slots=True)
class Piece:
    start: int
    end: int
    kind: Kind
    fold: Fold | None = None

    def cut(self, borders: Sequence[int]) -> Iterator[Piece]:
        """Into parts that no border runs through, where that can be shown."""
        if self.kind in _ONE:
            yield self
            return
        first = bisect_right(borders, self.start)
        last = bisect_left(borders, self.end)
        edges = (self.start, *borders[first:last], self.end)
        for start, end in pairwise(edges):
            yield Piece(start, end, self.kind)


_LAYOUT = re.compile(r"[ \t]+|\r\n|\n")
_TABS = re.compile(r"\t+")
_CONTROLS = re.compile(r"[\n\t]")
# The blocks of the scripts that run from right to left.
_BACKWARDS = re.compile(
    "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefe\U00010800-\U00010fff"
    "\U0001e800-\U0001efff]+"
)


def ends_with_crlf(text: str) -> bool:
    """Every line does, and no carriage return stands elsewhere."""
    ends = text.count("\r\n")
    return ends > 0 and ends == text.count("\r") == text.count("\n")


def pieces(
    text: str,
    *,
    marks: Sequence[Mark],
    layers: Sequence[Layer],
    one_line: bool,
) -> Iterator[Piece]:
    """In order, without a gap."""
    layout = _controls if one_line else _lines(text, borders_of(marks, ()))
    found = [Piece(at, at + 1, Kind.ESCAPE) for at, _ in unseen(text)]
    at = 0
    for fold in folds(text, within=unbroken(len(text), marks, layers)):
        found += layout(text, at, fold.start)
        found.append(Piece(fold.start, fold.end, Kind.FOLD, fold))
        at = fold.end
    found += layout(text, at, len(text))
    return _filled(text, found)


def _filled(text: str, found: list[Piece]) -> Iterator[Piece]:
    at = 0
    # Of those that begin together the longest holds the others.
    for piece in sorted(found, key=lambda one: (one.start, -one.end)):
        if piece.start < at:
            continue
        yield from _words(text, at, piece.start)
        yield piece
        at = piece.end
    yield from _words(text, at, len(text))


def _words(text: str, start: int, end: int) -> Iterator[Piece]:
    at = start
    for found in _BACKWARDS.finditer(text, start, end):
        if at < found.start():
            yield Piece(at, found.start(), Kind.PLAIN)
        yield Piece(*found.span(), Kind.BACKWARDS)
        at = found.end()
    if at < end:
        yield Piece(at, end, Kind.PLAIN)


def _controls(text: str, start: int, end: int) -> Iterator[Piece]:
    for found in _CONTROLS.finditer(text, start, end):
        yield Piece(*found.span(), Kind.ESCAPE)
    edge = max(len(text.rstrip(" ")), start)
    if edge < end == len(text):
        yield Piece(edge, end, Kind.EDGE)


def _lines(text: str, borders: Collection[int]) -> Layout:
    # Where all line ends are alike they are told once and not shown on every line.
    crlf = ends_with_crlf(text)
    borders = frozenset(borders)

    def layout(text: str, start: int, end: int) -> Iterator[Piece]:
        for found in _LAYOUT.finditer(text, start, end):
            first, last = found.span()
            if text[last - 1] == "\n":
                whole = crlf and last - 1 not in borders
                yield Piece(first if whole else last - 1, last, Kind.NEWLINE)
            elif last == len(text) or text.startswith(("\n", "\r\n"), last):
                yield Piece(first, last, Kind.EDGE)
            else:
                for tabs in _TABS.finditer(text, first, last):
                    yield Piece(*tabs.span(), Kind.TAB)

    return layout
