"""Several edits of one file as one change: all of them or none.

Every edit is looked for in the original text, never in what another edit left behind,
so their order does not matter. Nothing of the text is normalised: line ends, a byte
order mark, a missing last line end and composed or decomposed letters stay as they are.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from guidance.core.edits import problems
from guidance.core.edits.diffs import Passage, list_passages, render_unified
from guidance.core.edits.edit import (
    Edit,
    EditMatch,
    EditPlan,
    EditProblem,
    EditRefusal,
    Layer,
)
from guidance.core.edits.lines import BOM
from guidance.core.edits.matching import Found, Original, Replacement
from guidance.core.effort import Effort, TooMuchError

EDIT_LIMIT = 200
TEXT_LIMIT = 262_144
EDITS_LIMIT = 4 * TEXT_LIMIT
RESULT_LIMIT = 2 * TEXT_LIMIT
MATCH_LIMIT = 4_000
OVERLAP_LIMIT = 100
# What planning may cost, and the prices of a place, and of a line that is shown as
# changed, if there are few of them in a row. So many of very many lines in a row, and so
# many characters of the result, are a microsecond's worth.
EFFORT_LIMIT = 55_000
_PLACE = 9
_SHOWN = 8
_IN_A_ROW = 4
_CHANGED = 2
_WRITTEN = 100
# Lines are compared with what can be spared; then they are shown as a whole.
_TO_SHOW = 10_000


class _Piece(NamedTuple):
    """A place of the original that an edit fills anew."""

    start: int
    end: int
    edit: int
    layer: Layer
    new: str


def plan_edits(
    original: str,
    edits: Sequence[Edit],
    *,
    file_path: str = "file",
    effort: Effort | None = None,
) -> EditPlan | EditRefusal:
    """What the edits make of the text, or everything that speaks against it."""
    effort = effort or Effort(EFFORT_LIMIT)
    against = [*_check_sizes(original, edits)]
    if not against:
        try:
            return _plan_or_refuse(original, edits, file_path, effort)
        except TooMuchError:
            against.append(problems.refuse_too_large(_TOO_MUCH_WORK))
    return EditRefusal(problems=tuple(against))


_TOO_MUCH = (
    f"the result would have more than {RESULT_LIMIT:,} characters, "
    f"or be changed in more than {MATCH_LIMIT:,} places"
)
_TOO_MUCH_WORK = (
    "too many lines, places and edits for one call: "
    "send fewer at once, or the whole file as one edit"
)


def _check_sizes(original: str, edits: Sequence[Edit]) -> Iterator[EditProblem]:
    if len(original) > TEXT_LIMIT:
        yield problems.refuse_too_large(
            f"the text has more than {TEXT_LIMIT:,} characters"
        )
    if sum(len(edit.old) + len(edit.new) for edit in edits) > EDITS_LIMIT:
        yield problems.refuse_too_large(
            f"the edits have more than {EDITS_LIMIT:,} characters"
        )
    if len(edits) > EDIT_LIMIT:
        yield problems.refuse_too_large(f"more than {EDIT_LIMIT} edits at once")


def _plan_or_refuse(
    original: str, edits: Sequence[Edit], file_path: str, effort: Effort
) -> EditPlan | EditRefusal:
    source = Original(original, effort)
    against: list[EditProblem] = []
    pieces: list[_Piece] = []
    for number, found in enumerate(_find_places(source, edits, against)):
        effort.spend(_PLACE * len(found))
        if len(pieces) + len(found) > MATCH_LIMIT:
            against.append(problems.refuse_too_large(_TOO_MUCH, number))
            return EditRefusal(problems=tuple(against))
        filling = Replacement(edits[number], source)
        pieces += (
            _Piece(place.start, place.end, number, place.layer, filling.build_at(place))
            for place in found
        )
    pieces.sort()
    against += islice(_list_overlaps(source, pieces), OVERLAP_LIMIT)
    size = len(original) + sum(
        len(piece.new) - piece.end + piece.start for piece in pieces
    )
    if not against and size > RESULT_LIMIT:
        against.append(problems.refuse_too_large(_TOO_MUCH))
    if against:
        return EditRefusal(problems=tuple(against))
    effort.spend(size // _WRITTEN)
    effort.spend(_count_changed_lines(original, pieces) // _CHANGED)
    return _build_plan(source, pieces, file_path, effort)


def _find_places(
    source: Original, edits: Sequence[Edit], against: list[EditProblem]
) -> list[tuple[Found, ...]]:
    """Where the edits apply; what speaks against one is added to the problems.

    What is nearly the same is looked for when everything else is found, with what that
    has left.
    """
    places: list[tuple[Found, ...] | None] = [
        _find_place(source, number, edit, against) for number, edit in enumerate(edits)
    ]
    for number, edit in enumerate(edits):
        if places[number] is None:
            limit = MATCH_LIMIT if edit.replace_all else problems.NAMED_PLACES
            found = source.find_similar(edit.old, limit=limit)
            if not found:
                against.append(problems.refuse_no_match(number, left_out=found is None))
            places[number] = _require_unique(source, number, edit, found or (), against)
    against.sort(key=lambda problem: problem.edit)
    return [found or () for found in places]


def _find_place(
    source: Original, number: int, edit: Edit, against: list[EditProblem]
) -> tuple[Found, ...] | None:
    """None if the text stands nowhere but for what is nearly the same."""
    if not edit.old:
        if source.text in ("", BOM):
            return (Found(len(source.text), len(source.text), "exact"),)
        against.append(problems.refuse_empty_old(number))
        return ()
    limit = MATCH_LIMIT if edit.replace_all else problems.NAMED_PLACES
    found = source.search(edit.old, every=edit.replace_all, limit=limit)
    return _require_unique(source, number, edit, found, against) if found else None


def _require_unique(
    source: Original,
    number: int,
    edit: Edit,
    found: tuple[Found, ...],
    against: list[EditProblem],
) -> tuple[Found, ...]:
    if len(found) < 2 or edit.replace_all:
        return found
    places = [source.lines.get_place(place.start) for place in found]
    against.append(problems.refuse_ambiguous(number, places))
    return ()


def _list_overlaps(source: Original, pieces: Sequence[_Piece]) -> Iterator[EditProblem]:
    reach: _Piece | None = None
    for piece in pieces:
        if reach is not None and (
            piece.start < reach.end or _is_same_point(piece, reach)
        ):
            one, other = (source.lines.get_place(each.start) for each in (reach, piece))
            yield problems.refuse_overlap(reach.edit, one, piece.edit, other)
        if reach is None or piece.end > reach.end:
            reach = piece


def _is_same_point(one: _Piece, other: _Piece) -> bool:
    """Two insertions into an empty file: which comes first?"""
    return one.start == one.end == other.start == other.end


def _count_changed_lines(text: str, pieces: Sequence[_Piece]) -> int:
    """At most so many lines are taken out and put in."""
    return sum(
        2 + piece.new.count("\n") + text.count("\n", piece.start, piece.end)
        for piece in pieces
    )


def _build_plan(
    source: Original, pieces: Sequence[_Piece], file_path: str, effort: Effort
) -> EditPlan:
    parts: list[str] = []
    position = 0
    for piece in pieces:
        parts += source.text[position : piece.start], piece.new
        position = piece.end
    result = "".join(parts) + source.text[position:]
    made = [*_list_passages(source.text, pieces, effort)]
    matches = [_build_match(source, piece) for piece in pieces]
    matches.sort(key=lambda match: (match.edit, match.line, match.column))
    return EditPlan(
        result=result,
        result_sha256=hash_text(result),
        diff=render_unified(source.text, made, name=file_path),
        matches=tuple(matches),
        lines_added=sum(each.new_end - each.new for each in made),
        lines_removed=sum(each.old_end - each.old for each in made),
    )


def _list_passages(
    text: str, pieces: Sequence[_Piece], effort: Effort
) -> Iterator[Passage]:
    spans = ((piece.start, piece.end, piece.new) for piece in pieces)

    def affords(price: int) -> bool:
        return effort.spend_if_spare(price, keep=_TO_SHOW)

    for passage in list_passages(text, spans, affords=affords):
        lines = passage.old_end - passage.old + passage.new_end - passage.new
        effort.spend(_SHOWN * min(_IN_A_ROW, lines))
        yield passage


def _build_match(source: Original, piece: _Piece) -> EditMatch:
    line, column = source.lines.get_place(piece.start)
    return EditMatch(edit=piece.edit, line=line, column=column, layer=piece.layer)


def hash_text(text: str) -> str:
    """Of the bytes that the file will have."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
