"""What is laid over a text: marks of findings, and classes for the style sheet."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from safetext.plain import make_visible_line


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A stretch that somebody has to look at, and why. Marks may overlap."""

    start: int
    end: int
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """A word for each of these stretches, which are in order and do not overlap.

    No fold reaches over a border of a `firm` layer.
    """

    spans: Sequence[tuple[int, int, str]]
    firm: bool = False

    def get_at(self, position: int) -> str:
        found = bisect_right(self.spans, position, key=_get_start) - 1
        if found < 0 or position >= self.spans[found][1]:
            return ""
        return self.spans[found][2]


def _get_start(span: tuple[int, int, str]) -> int:
    return span[0]


def build_marks(
    findings: Iterable[Mapping[str, Any]], *, argument: str
) -> tuple[Mark, ...]:
    """The marks that findings of a call put on one of its texts, by JSON pointer."""
    made: list[Mark] = []
    for finding in findings:
        details = finding.get("details") or {}
        if "span" not in details or details.get("argument") != argument:
            continue
        label = make_visible_line(
            str(finding.get("message") or details.get("rule") or "")
        )
        if details.get("uninspectable"):
            label = f"cannot be inspected: {label}"
        start, end = details["span"]
        made.append(Mark(start=start, end=end, label=label))
    return tuple(made)


def cut_marks(text: str, marks: Iterable[Mark], *, at: int = 0) -> tuple[Mark, ...]:
    """The part of each mark that lies on this text, which begins at that offset."""
    return tuple(
        replace(mark, start=start, end=end)
        for mark in marks
        for start in [max(mark.start - at, 0)]
        for end in [min(mark.end - at, len(text))]
        if start < end
    )


def list_labels_at(marks: Iterable[Mark], position: int) -> tuple[str, ...]:
    """Each label once, in the order of the marks."""
    found = (mark.label for mark in marks if mark.start <= position < mark.end)
    return tuple(dict.fromkeys(found))


def list_borders(marks: Iterable[Mark], layers: Iterable[Layer]) -> list[int]:
    borders = {edge for mark in marks for edge in (mark.start, mark.end)}
    for layer in layers:
        borders.update(edge for span in layer.spans for edge in span[:2])
    return sorted(borders)


def find_foldable(
    length: int, marks: Iterable[Mark], layers: Iterable[Layer]
) -> Iterator[tuple[int, int]]:
    """The stretches in which something may be folded: no mark begins or ends inside
    one, so that a fold is marked as all that it stands for."""
    firm = list_borders(marks, (layer for layer in layers if layer.firm))
    edges = sorted({0, length, *(edge for edge in firm if 0 < edge < length)})
    yield from pairwise(edges)
