"""Long stretches of nothing, folded with a count: what they push away stays in sight."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from safetext.characters import (
    MOST_MARKS,
    describe,
    escape,
    find_invisible_runs,
    get_reason,
    is_mark,
)

# More blank lines, spaces or equal escapes than this are folded.
BLANK_LINES = 4
SPACES = 48
ESCAPES = 12

_END = "\n"

# Spaces of every kind, and what ends a line in some programs. Different characters
# without width are not among them: they could spell a message, and stay written out.
_BLANK = r" \t\r\x0b\x0c\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_BLANK_LINE = re.compile(rf"[{_BLANK}]*")
_LINES = re.compile(rf"(?<![^\n])(?:[{_BLANK}]*\n){{{BLANK_LINES + 1},}}")
_EQUAL_LINES = re.compile(rf"(?<![^\n])([{_BLANK}]*\n)\1{{{BLANK_LINES},}}")
_STRETCH = re.compile(
    rf"[{_BLANK}]{{{SPACES + 1},}}|([^\x20-\x7e\n{_BLANK}])\1{{{ESCAPES},}}"
)


@dataclass(frozen=True, slots=True)
class Fold:
    """`label` stands for the whole stretch; `describe_runs` names every character of it."""

    start: int
    end: int
    label: str


def is_blank(line: str) -> bool:
    """Whether a line shows nothing, and is folded with its neighbours."""
    return _BLANK_LINE.fullmatch(line) is not None


def find_folds(text: str, *, within: Iterable[tuple[int, int]]) -> Iterator[Fold]:
    """The folds in order, each of them inside one of these stretches."""
    for start, end in within:
        at = start
        for found in _LINES.finditer(text, start, end):
            yield from _find_folds_in_lines(text, at, found.start())
            label = f"{text.count(_END, *found.span()):,} blank lines"
            yield Fold(*found.span(), label)
            at = found.end()
        yield from _find_folds_in_lines(text, at, end)


def count_escapes(text: str) -> int:
    """How many escapes a text takes at most: long runs of the same one are folded."""
    return sum(count for _, count in find_unfolded_escapes(text))


def find_unfolded_escapes(text: str) -> Iterator[tuple[int, int]]:
    """Where equal escapes begin, and how many count: of a long run the first ones do,
    of equal blank lines those in the first ones."""
    at = 0
    for lines in _EQUAL_LINES.finditer(text):
        shown = lines.start() + (BLANK_LINES + 1) * len(lines[1])
        yield from _find_escapes(text, at, shown)
        at = lines.end()
    yield from _find_escapes(text, at, len(text))


def _find_escapes(text: str, first: int, last: int) -> Iterator[tuple[int, int]]:
    for start, end, _ in find_invisible_runs(text[first:last]):
        # No shorter run is folded, of whichever kind its character is.
        yield first + start, min(end - start, SPACES + 1)


def _find_folds_in_lines(text: str, start: int, end: int) -> Iterator[Fold]:
    for found in _STRETCH.finditer(text, start, end):
        first = found.start()
        if found[1] and is_mark(found[1]):
            # The first ones may belong to a letter.
            first += MOST_MARKS
        elif found[1] and get_reason(found[1]) is None:
            continue
        yield Fold(first, found.end(), _build_label(text[first : found.end()]))


def _build_label(stretch: str) -> str:
    kinds = {*stretch}
    if len(kinds) > 1:
        return f"{len(stretch):,} blank characters"
    if kinds == {" "}:
        return f"{len(stretch):,} spaces"
    if kinds == {"\t"}:
        return f"{len(stretch):,} tabs"
    return f"{len(stretch):,} × {describe(stretch[0])}"


def describe_runs(stretch: str) -> tuple[str, ...]:
    """A folded stretch in full: how many of what, equal lines together."""
    if _END not in stretch:
        # Thousands of single ones would be twice as long with their count.
        counted = _count_runs(stretch, escape)
        return tuple(run.removeprefix("1 × ") for run in counted)
    return _count_runs(stretch.split(_END)[:-1], _describe_line)


def _describe_line(line: str) -> str:
    return " ".join((*_count_runs(line, escape), escape(_END)))


def _count_runs(things: Iterable[str], write: Callable[[str], str]) -> tuple[str, ...]:
    counts = ((len([*same]), thing) for thing, same in groupby(things))
    return tuple(f"{count:,} × {write(thing)}" for count, thing in counts)
