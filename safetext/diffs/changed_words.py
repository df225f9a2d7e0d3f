"""Which words changed between two lines that stand for one another."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from rapidfuzz.distance import Indel

from safetext.diffs.parse import DiffLine, Row

Spans = list[tuple[int, int]]

_WORD = re.compile(r"\w+|\s+|.", re.DOTALL)
# Longer lines, and blocks of more lines, are shown as changed in whole.
_CHARACTERS = 2000
_LINES = 200
# Lines that have less than this in common have become other lines.
_ALIKE = 0.4


def pair_lines(lines: Sequence[DiffLine]) -> Iterator[tuple[int, int]]:
    """Indexes of removed and added lines that stand for one another, in order."""
    changed = [
        index
        for index, line in enumerate(lines)
        if line.kind is not Row.UNENDED  # between a line and what became of it
    ]
    for _, block in groupby(changed, lambda index: _is_change(lines[index])):
        indexes = [*block]
        removed = [at for at in indexes if lines[at].kind is Row.REMOVED]
        added = [at for at in indexes if lines[at].kind is Row.ADDED]
        if max(len(removed), len(added)) <= _LINES:
            yield from zip(removed, added, strict=False)


def _is_change(line: DiffLine) -> bool:
    return line.kind in (Row.REMOVED, Row.ADDED)


def find_changed_words(old: str, new: str) -> tuple[Spans, Spans]:
    """What to take out of each to be left with the same; nothing for other lines."""
    if max(len(old), len(new)) > _CHARACTERS:
        return [], []
    one, other = _WORD.findall(old), _WORD.findall(new)
    steps = Indel.opcodes(one, other)
    same = sum(
        len("".join(one[step.src_start : step.src_end]).strip())
        for step in steps
        if step.tag == "equal"
    )
    if same < _ALIKE * max(len(old.strip()), len(new.strip())):
        return [], []
    gone: Spans = []
    come: Spans = []
    at_old = at_new = 0
    for step in steps:
        old_end = at_old + sum(map(len, one[step.src_start : step.src_end]))
        new_end = at_new + sum(map(len, other[step.dest_start : step.dest_end]))
        if step.tag != "equal":
            _add(gone, at_old, old_end)
            _add(come, at_new, new_end)
        at_old, at_new = old_end, new_end
    return gone, come


def _add(spans: Spans, start: int, end: int) -> None:
    if start == end:
        return
    if spans and spans[-1][1] == start:
        start = spans.pop()[0]
    spans.append((start, end))
