"""The unified diff that a person reads, of a text of which is known where it changed.

Only the lines that changed are looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from guidance.core.edits.changes import Affords, find_changes, split_lines

CONTEXT = 3


class Passage(NamedTuple):
    """A change, where its lines stand in the original, and what becomes of them."""

    old: int
    old_end: int
    new: int
    new_end: int
    start: int
    end: int
    put: str


def list_passages(
    text: str, spans: Iterable[tuple[int, int, str]], *, affords: Affords
) -> Iterator[Passage]:
    """The changes of a text whose spans, in their order, are filled anew."""
    position = line = moved = 0
    for start, end, put in _list_regions(text, spans):
        line += text.count("\n", position, start)
        within = text.count("\n", start, end)
        at = line + moved
        if within == put.count("\n") == 1 and text[end - 1] == put[-1] == "\n":
            # One line for one: most are like this, and there may be very many.
            if not text.startswith(put, start):
                yield Passage(line, line + 1, at, at + 1, start, end, put)
        else:
            old, new = split_lines(text[start:end]), split_lines(put)
            places = [*accumulate(map(len, old), initial=start)]
            for change in find_changes(old, new, affords=affords):
                yield Passage(
                    change.old + line,
                    change.old_end + line,
                    change.new + at,
                    change.new_end + at,
                    places[change.old],
                    places[change.old_end],
                    "".join(new[change.new : change.new_end]),
                )
            moved += len(new) - len(old)
        line += within
        position = end


def _list_regions(
    text: str, spans: Iterable[tuple[int, int, str]]
) -> Iterator[tuple[int, int, str]]:
    """Whole lines of the original, and what becomes of them.

    Each up to and with the line behind a change, whose rest is the same in both.
    """
    first = behind = position = 0
    parts: list[str] = []
    for start, end, new in spans:
        line = text.rfind("\n", behind, start) + 1
        if line > behind:
            if parts:
                yield first, behind, "".join(parts) + text[position:behind]
            first = position = line
            parts = []
        parts += text[position:start], new
        position = end
        if end >= behind:
            behind = text.find("\n", end) + 1 or len(text)
    if parts:
        yield first, behind, "".join(parts) + text[position:behind]


def render_unified(text: str, made: Iterable[Passage], *, name: str) -> str:
    """The unified diff of the changes, empty when there are none."""
    shown = _escape_name(name)
    parts = [f"--- a/{shown}\n+++ b/{shown}\n"]
    hunk: list[Passage] = []
    for passage in made:
        if hunk and passage.old - hunk[-1].old_end > 2 * CONTEXT:
            parts += _render_hunk(text, hunk)
            hunk = []
        hunk.append(passage)
    if not hunk:
        return ""
    parts += _render_hunk(text, hunk)
    return "".join(parts)


def _render_hunk(text: str, hunk: Sequence[Passage]) -> Iterator[str]:
    first, last = hunk[0], hunk[-1]
    start, before = _find_context_before(text, first.start)
    end, after = _find_context_behind(text, last.end)
    here = _render_range(first.old - before, last.old_end + after)
    there = _render_range(first.new - before, last.new_end + after)
    yield f"@@ -{here} +{there} @@\n"
    for passage in hunk:
        yield _render_rows(" ", text[start : passage.start])
        yield _render_rows("-", text[passage.start : passage.end])
        yield _render_rows("+", passage.put)
        start = passage.end
    yield _render_rows(" ", text[start:end])


def _find_context_before(text: str, at: int) -> tuple[int, int]:
    """Where the context before a place starts, and how many lines it has."""
    count = 0
    while at > 0 and count < CONTEXT:
        at = text.rfind("\n", 0, at - 1) + 1
        count += 1
    return at, count


def _find_context_behind(text: str, at: int) -> tuple[int, int]:
    count = 0
    while at < len(text) and count < CONTEXT:
        at = text.find("\n", at) + 1 or len(text)
        count += 1
    return at, count


def _render_rows(sign: str, text: str) -> str:
    if not text:
        return ""
    rows = sign + text.removesuffix("\n").replace("\n", f"\n{sign}")
    # Only the last line of a file may be without its end.
    ending = "\n" if text.endswith("\n") else "\n\\ No newline at end of file\n"
    return rows + ending


def _render_range(start: int, end: int) -> str:
    if end - start == 1:
        return str(start + 1)
    return f"{start + 1 if end > start else start},{end - start}"


def _escape_name(name: str) -> str:
    """A name on one line: what could end the line or hide is written as an escape."""
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode()
        for char in name
    )
