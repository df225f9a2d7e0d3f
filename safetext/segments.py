"""A text split into segments: each is shown in one way and carries its own labels.

The raw texts of the segments, joined, are the text itself: no character is lost, added
or changed. Layers (marks, colours, changes, oddities) only add attributes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from safetext.characters import OPENING, describe, escape, get_name
from safetext.deception.words import Odd, find_oddities
from safetext.folding import describe_runs
from safetext.marks import Layer, Mark, cut_marks, list_borders, list_labels_at
from safetext.pieces import Piece, PieceKind, split_pieces


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """`shown` stands on the screen and `note` tells more on demand.

    `odd` ones deceive although they are seen. `runs` are what a fold hides, `marks` the
    labels of the findings, `classes` words of the style sheet.
    """

    kind: PieceKind
    raw: str
    shown: str
    note: str = ""
    odd: bool = False
    runs: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    classes: str = ""


def split_segments(
    text: str,
    *,
    marks: Sequence[Mark] = (),
    layers: Sequence[Layer] = (),
    one_line: bool = False,
) -> tuple[Segment, ...]:
    """In order. On one line, tabs and line ends are escapes like any other control."""
    marks = cut_marks(text, marks)
    layers = [layer for layer in layers if layer.spans]
    strange = _build_oddity_layers(text)
    cuts = list_borders(marks, (*layers, *strange))
    return tuple(
        _build_segment(text, piece, marks, layers, strange)
        for whole in split_pieces(text, marks=marks, layers=layers, one_line=one_line)
        for piece in whole.cut(cuts)
    )


def _build_segment(
    text: str,
    piece: Piece,
    marks: Sequence[Mark],
    layers: Sequence[Layer],
    strange: Sequence[Layer],
) -> Segment:
    raw = text[piece.start : piece.end]
    notes = [*filter(None, (layer.get_at(piece.start) for layer in strange))]
    odd = bool(notes) and piece.kind in (PieceKind.PLAIN, PieceKind.BACKWARDS)
    shown, note = _get_appearance(piece, raw)
    return Segment(
        kind=piece.kind,
        raw=raw,
        shown=shown,
        note="; ".join(notes) if odd else note,
        odd=odd,
        runs=describe_runs(raw) if piece.fold else (),
        marks=list_labels_at(marks, piece.start),
        classes=" ".join(filter(None, (layer.get_at(piece.start) for layer in layers))),
    )


def _get_appearance(piece: Piece, raw: str) -> tuple[str, str]:
    match piece.kind:
        case PieceKind.ESCAPE:
            return escape(raw), get_name(raw)
        case PieceKind.FOLD if piece.fold is not None:
            return f"{OPENING}{piece.fold.label}⟩", ""
        case PieceKind.TAB:
            return raw, "tab"
        case PieceKind.EDGE:
            return raw, "blank at the end of the line"
        case PieceKind.NEWLINE:
            return raw, ", ".join(map(describe, raw))
        case _:
            return raw, ""


def _build_oddity_layers(text: str) -> tuple[Layer, ...]:
    found: dict[Odd, list[tuple[int, int, str]]] = {}
    for oddity in find_oddities(text):
        span = (oddity.start, oddity.end, oddity.note)
        found.setdefault(oddity.kind, []).append(span)
    return tuple(Layer(spans=spans) for spans in found.values())
