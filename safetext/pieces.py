"""Split a text by how its characters are displayed."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from safetext.characters import find_invisible
from safetext.folding import Fold, find_folds
from safetext.marks import Layer, Mark, find_foldable, list_borders


class PieceKind(StrEnum):
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
_ONE = frozenset({PieceKind.ESCAPE, PieceKind.FOLD, PieceKind.NEWLINE})


@dataclass(frozen=True, slots=True)
class Piece:
    start: int
    end: int
    kind: PieceKind
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


def split_pieces(
    text: str,
    *,
    marks: Sequence[Mark],
    layers: Sequence[Layer],
    one_line: bool,
) -> Iterator[Piece]:
    """In order, without a gap."""
    layout = (
        _find_controls if one_line else _build_layout(text, list_borders(marks, ()))
    )
    found: list[Piece] = []
    at = 0
    for fold in find_folds(text, within=find_foldable(len(text), marks, layers)):
        found += _find_escapes(text, at, fold.start)
        found += layout(text, at, fold.start)
        found.append(Piece(fold.start, fold.end, PieceKind.FOLD, fold))
        at = fold.end
    found += _find_escapes(text, at, len(text))
    found += layout(text, at, len(text))
    return _fill_gaps(text, found)


def _find_escapes(text: str, start: int, end: int) -> Iterator[Piece]:
    """Those between two folds. Behind a fold no mark has a letter, as at the beginning
    of a text, and nothing in a fold goes on with what stands before it."""
    for at, _ in find_invisible(text[start:end]):
        yield Piece(start + at, start + at + 1, PieceKind.ESCAPE)


def _fill_gaps(text: str, found: list[Piece]) -> Iterator[Piece]:
    at = 0
    # Of those that begin together the longest holds the others.
    for piece in sorted(found, key=lambda one: (one.start, -one.end)):
        if piece.start < at:
            continue
        yield from _split_words(text, at, piece.start)
        yield piece
        at = piece.end
    yield from _split_words(text, at, len(text))


def _split_words(text: str, start: int, end: int) -> Iterator[Piece]:
    at = start
    for found in _BACKWARDS.finditer(text, start, end):
        if at < found.start():
            yield Piece(at, found.start(), PieceKind.PLAIN)
        yield Piece(*found.span(), PieceKind.BACKWARDS)
        at = found.end()
    if at < end:
        yield Piece(at, end, PieceKind.PLAIN)


def _find_controls(text: str, start: int, end: int) -> Iterator[Piece]:
    for found in _CONTROLS.finditer(text, start, end):
        yield Piece(*found.span(), PieceKind.ESCAPE)
    edge = max(len(text.rstrip(" ")), start)
    if edge < end == len(text):
        yield Piece(edge, end, PieceKind.EDGE)


def _build_layout(text: str, borders: Collection[int]) -> Layout:
    # Where all line ends are alike they are named once and not shown on every line.
    crlf = ends_with_crlf(text)
    borders = frozenset(borders)

    def layout(text: str, start: int, end: int) -> Iterator[Piece]:
        for found in _LAYOUT.finditer(text, start, end):
            first, last = found.span()
            if text[last - 1] == "\n":
                whole = crlf and last - 1 not in borders
                yield Piece(first if whole else last - 1, last, PieceKind.NEWLINE)
            elif last == len(text) or text.startswith(("\n", "\r\n"), last):
                yield Piece(first, last, PieceKind.EDGE)
            else:
                for tabs in _TABS.finditer(text, first, last):
                    yield Piece(*tabs.span(), PieceKind.TAB)

    return layout
