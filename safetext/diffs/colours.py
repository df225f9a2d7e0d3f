"""Syntax colours of a diff: each side is read as the text it comes from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from safetext.colours import build_colours
from safetext.diffs.parse import DiffLine, Row

Colours = list[tuple[int, int, str]]


def build_side_colours(
    diff: str, lines: Sequence[DiffLine], *, file_name: str
) -> dict[int, Colours]:
    """The colours of each line of content, by where its text begins."""
    old = [line for line in lines if line.kind in (Row.CONTEXT, Row.REMOVED)]
    new = [line for line in lines if line.kind in (Row.CONTEXT, Row.ADDED)]
    # What stands on both sides is coloured as it will be.
    return _build_one_side(diff, old, file_name) | _build_one_side(diff, new, file_name)


def _build_one_side(
    diff: str, lines: Iterable[DiffLine], file_name: str
) -> dict[int, Colours]:
    kept = [(line.text_start, diff[line.text_start : line.end]) for line in lines]
    text = "\n".join(content for _, content in kept)
    found: dict[int, Colours] = {}
    spans = iter(build_colours(text, file_name=file_name).spans)
    span = next(spans, None)
    at = 0
    for place, content in kept:
        here = found.setdefault(place, [])
        end = at + len(content)
        while span is not None and span[0] < end:
            start, last, name = span
            if max(start, at) < min(last, end):
                here.append((max(start, at) - at, min(last, end) - at, name))
            if last > end:
                break
            span = next(spans, None)
        at = end + 1
    return found
