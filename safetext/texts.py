"""A text as a reviewer sees it: numbered lines of segments, and what to know first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from safetext.colours import build_colours
from safetext.marks import Layer, Mark, cut_marks
from safetext.pieces import PieceKind, ends_with_crlf
from safetext.segments import Segment, split_segments
from safetext.warnings import build_warnings

Page = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Group:
    """Neighbours under the same marks, so that their label is read out once."""

    marks: tuple[str, ...]
    segments: tuple[Segment, ...]

    @property
    def label(self) -> str:
        return "; ".join(self.marks)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """`number` is empty where there is only one; a row of folded lines has the first."""

    number: str
    groups: tuple[Group, ...]

    @property
    def plain(self) -> str:
        """The line itself where nothing has to be said about it, as most often."""
        return get_plain_text(self.groups)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownText:
    """`lines` are those of the page, `warnings` those of the whole text."""

    lines: tuple[Line, ...]
    warnings: tuple[str, ...]
    crlf: bool
    numbered: bool
    empty: bool


def show_text(
    text: str,
    *,
    marks: Sequence[Mark] = (),
    file_name: str = "",
    page: Page | None = None,
) -> ShownText:
    """One page of a text, or all of it; colours only where a file's name is known."""
    start, end = page or (0, len(text))
    part = text[start:end]
    layers = [cut_layer(build_colours(text, file_name=file_name), start, end)]
    shown = split_segments(part, marks=cut_marks(part, marks, at=start), layers=layers)
    first = text.count("\n", 0, start) + 1
    numbered = "\n" in text
    return ShownText(
        lines=tuple(
            _build_lines(shown, first=first, numbered=numbered, last=end == len(text))
        ),
        warnings=build_warnings(text),
        crlf=ends_with_crlf(part),
        numbered=numbered,
        empty=not text,
    )


def cut_layer(layer: Layer, start: int, end: int) -> Layer:
    """What of a layer lies on this part of its text."""
    spans = [
        (max(first, start) - start, min(last, end) - start, word)
        for first, last, word in layer.spans
        if first < end and last > start
    ]
    return replace(layer, spans=spans)


def group_segments(shown: Iterable[Segment]) -> tuple[Group, ...]:
    made: list[Group] = []
    together: list[Segment] = []
    for segment in shown:
        if together and together[-1].marks != segment.marks:
            made.append(Group(together[0].marks, tuple(together)))
            together = []
        together.append(segment)
    if together:
        made.append(Group(together[0].marks, tuple(together)))
    return tuple(made)


def get_plain_text(groups: Sequence[Group]) -> str:
    """The text of groups that need no markup; empty for all others."""
    if len(groups) != 1 or groups[0].marks:
        return ""
    shown, *ends = groups[0].segments
    if shown.kind is not PieceKind.PLAIN or shown.odd or shown.classes:
        return ""
    return shown.shown if all(end.kind is PieceKind.NEWLINE for end in ends) else ""


def _build_lines(
    shown: Sequence[Segment], *, first: int, numbered: bool, last: bool
) -> Iterator[Line]:
    number = first
    current: list[Segment] = []
    for segment in shown:
        ends = segment.raw.count("\n")
        if segment.kind is PieceKind.FOLD and ends:
            # Whole blank lines, as a row of their own.
            yield _build_line([segment], number, numbered=numbered)
        else:
            current.append(segment)
            if segment.kind is PieceKind.NEWLINE:
                yield _build_line(current, number, numbered=numbered)
                current = []
        number += ends
    # Behind the last line end of the text there is one more line, empty or not.
    if current or last:
        yield _build_line(current, number, numbered=numbered)


def _build_line(current: list[Segment], number: int, *, numbered: bool) -> Line:
    return Line(number=str(number) if numbered else "", groups=group_segments(current))
