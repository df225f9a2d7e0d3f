"""A text cut into segments: each is shown in one way and carries its own labels.

The raw texts of the segments, joined, are the text itself: no character is lost, added
or changed. Layers (marks, colours, changes, oddities) only add attributes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from safetext.characters import OPENING, described, escaped, name_of
from safetext.deception.words import Odd, oddities
from safetext.folding import runs_of
from safetext.marks import Layer, Mark, borders_of, labels_at, marks_within
from safetext.pieces import Kind, Piece, pieces


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """`shown` stands on the screen and `note` tells more on demand.

    `odd` ones deceive although they are seen. `runs` are what a fold hides, `marks` the
    labels of the findings, `classes` words of the style sheet.
    """

    kind: Kind
    raw: str
    shown: str
    note: str = ""
    odd: bool = False
    runs: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    classes: str = ""


def segments(
    text: str,
    *,
    marks: Sequence[Mark] = (),
    layers: Sequence[Layer] = (),
    one_line: bool = False,
) -> tuple[Segment, ...]:
    """In order. On one line, tabs and line ends are escapes like any other control."""
    marks = marks_within(text, marks)
    layers = [layer for layer in layers if layer.spans]
    strange = _oddity_layers(text)
    cuts = borders_of(marks, (*layers, *strange))
    return tuple(
        _segment(text, piece, marks, layers, strange)
        for whole in pieces(text, marks=marks, layers=layers, one_line=one_line)
        for piece in whole.cut(cuts)
    )


def _segment(
    text: str,
    piece: Piece,
    marks: Sequence[Mark],
    layers: Sequence[Layer],
    strange: Sequence[Layer],
) -> Segment:
    raw = text[piece.start : piece.end]
    notes = [*filter(None, (layer.at(piece.start) for layer in strange))]
    odd = bool(notes) and piece.kind in (Kind.PLAIN, Kind.BACKWARDS)
    shown, note = _appearance(piece, raw)
    return Segment(
        kind=piece.kind,
        raw=raw,
        shown=shown,
        note="; ".join(notes) if odd else note,
        odd=odd,
        runs=runs_of(raw) if piece.fold else (),
        marks=labels_at(marks, piece.start),
        classes=" ".join(filter(None, (layer.at(piece.start) for layer in layers))),
    )


def _appearance(piece: Piece, raw: str) -> tuple[str, str]:
    match piece.kind:
        case Kind.ESCAPE:
            return escaped(raw), name_of(raw)
        case Kind.FOLD if piece.fold is not None:
            return f"{OPENING}{piece.fold.label}⟩", ""
        case Kind.TAB:
            return raw, "tab"
        case Kind.EDGE:
            return raw, "blank at the end of the line"
        case Kind.NEWLINE:
            return raw, ", ".join(map(described, raw))
        case _:
            return raw, ""


def _oddity_layers(text: str) -> tuple[Layer, ...]:
    found: dict[Odd, list[tuple[int, int, str]]] = {}
    for oddity in oddities(text):
        span = (oddity.start, oddity.end, oddity.note)
        found.setdefault(oddity.kind, []).append(span)
    return tuple(Layer(spans=spans) for spans in found.values())
