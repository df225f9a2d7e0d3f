"""Several edits of one file as one change: all of them or none.

Every edit is looked for in the original text, never in what another edit left behind,
so their order does not matter. Nothing of the text is normalised: line ends, a byte
order mark, a missing last line end and composed or decomposed letters stay as they are.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

from guidance.core.edits.diffs import Change, line_changes, split_lines, unified
from guidance.core.edits.edit import (
    Edit,
    EditMatch,
    EditPlan,
    EditProblem,
    EditRefusal,
    Layer,
    Trouble,
)
from guidance.core.edits.lines import BOM
from guidance.core.edits.matching import Found, Original
from guidance.core.edits.similarity import Effort

EDIT_LIMIT = 200
TEXT_LIMIT = 1_048_576
MATCH_LIMIT = 10_000
RESULT_LIMIT = 4 * TEXT_LIMIT
# So many places are named in one message.
_NAMED_PLACES = 5


class _Piece(NamedTuple):
    """A place of the original that an edit fills anew."""

    start: int
    end: int
    edit: int
    layer: Layer
    new: str


def plan_edits(
    original: str, edits: Sequence[Edit], *, file_path: str = "file"
) -> EditPlan | EditRefusal:
    """What the edits make of the text, or everything that speaks against it."""
    problems = _size_problems(original, edits)
    if problems:
        return EditRefusal(problems=tuple(problems))
    source = Original(original)
    effort = Effort()
    pieces: list[_Piece] = []
    for number, edit in enumerate(edits):
        found = _found(source, number, edit, problems, effort=effort)
        if len(pieces) + len(found) > MATCH_LIMIT:
            problems.append(_problem(number, "too-large", _TOO_MUCH))
            return EditRefusal(problems=tuple(problems))
        pieces += (
            _Piece(
                place.start,
                place.end,
                number,
                place.layer,
                _filled(source, edit, place),
            )
            for place in found
        )
    pieces.sort()
    problems += _overlaps(source, pieces)
    if not problems:
        size = len(original) + sum(
            len(piece.new) - piece.end + piece.start for piece in pieces
        )
        if size > RESULT_LIMIT:
            problems.append(_problem(0, "too-large", _TOO_MUCH))
    if problems:
        return EditRefusal(problems=tuple(problems))
    return _plan(source, pieces, file_path)


_TOO_MUCH = (
    f"the result would have more than {RESULT_LIMIT:,} characters, "
    f"or be changed in more than {MATCH_LIMIT:,} places"
)


def _size_problems(original: str, edits: Sequence[Edit]) -> list[EditProblem]:
    problems = []
    if len(original) > TEXT_LIMIT:
        message = f"the text has more than {TEXT_LIMIT:,} characters"
        problems.append(_problem(0, "too-large", message))
    if sum(len(edit.old) + len(edit.new) for edit in edits) > TEXT_LIMIT:
        message = f"the edits have more than {TEXT_LIMIT:,} characters"
        problems.append(_problem(0, "too-large", message))
    if len(edits) > EDIT_LIMIT:
        problems.append(
            _problem(0, "too-large", f"more than {EDIT_LIMIT} edits at once")
        )
    return problems


def _problem(
    edit: int, trouble: Trouble, message: str, place: tuple[int, int] | None = None
) -> EditProblem:
    line, column = place or (None, None)
    return EditProblem(
        edit=edit, trouble=trouble, message=message, line=line, column=column
    )


def _found(
    source: Original,
    number: int,
    edit: Edit,
    problems: list[EditProblem],
    *,
    effort: Effort,
) -> tuple[Found, ...]:
    """Where the edit applies; what speaks against it is added to the problems."""
    name = f"edits[{number}]"
    if not edit.old:
        if source.text in ("", BOM):
            return (Found(len(source.text), len(source.text), "exact"),)
        problems.append(
            _problem(
                number,
                "empty-old",
                f"{name}: old is empty, but the file is not; say what is to be replaced",
            )
        )
        return ()
    limit = MATCH_LIMIT if edit.replace_all else _NAMED_PLACES
    search = source.search(edit.old, every=edit.replace_all, limit=limit, effort=effort)
    if not search.found:
        message = f"{name}: old does not stand in the file"
        if search.left_out:
            message += (
                "; similar lines were not looked for, there is too much to compare"
            )
        problems.append(_problem(number, "no-match", message))
    elif len(search.found) > 1 and not edit.replace_all:
        places = [source.lines.place(found.start) for found in search.found]
        named = ", ".join(f"{line}:{column}" for line, column in places[:_NAMED_PLACES])
        more = len(places) > _NAMED_PLACES
        message = (
            f"{name}: old stands in {'more than ' if more else ''}"
            f"{min(len(places), _NAMED_PLACES)} places ({named}{' …' if more else ''}); "
            "give more of what is around it, or set replace_all"
        )
        problems.append(_problem(number, "ambiguous", message, places[0]))
        return ()
    return search.found


def _filled(source: Original, edit: Edit, found: Found) -> str:
    """The new text with the line ends that the file has there.

    An edit that was found to the letter and itself speaks of CR is taken literally.
    """
    literal = source.text[found.start : found.end] == edit.old
    if literal and "\r" in edit.old + edit.new:
        return edit.new
    new = edit.new.replace("\r\n", "\n")
    ends = ("\n", "\r")
    lost = edit.old.endswith(ends) and not source.text.endswith(ends, 0, found.end)
    if lost:
        # The file ends without a line end, and goes on doing so.
        new = new.removesuffix("\n")
    ending = source.lines.ending_at(found.start, found.end)
    return new if ending == "\n" else new.replace("\n", ending)


def _overlaps(source: Original, pieces: Sequence[_Piece]) -> list[EditProblem]:
    problems = []
    reach: _Piece | None = None
    for piece in pieces:
        if reach is not None and (piece.start < reach.end or _same_point(piece, reach)):
            one, other = (
                source.lines.place(reach.start),
                source.lines.place(piece.start),
            )
            message = (
                f"edits[{reach.edit}] at {one[0]}:{one[1]} and "
                f"edits[{piece.edit}] at {other[0]}:{other[1]} overlap"
            )
            problems.append(_problem(piece.edit, "overlap", message, other))
        if reach is None or piece.end > reach.end:
            reach = piece
    return problems


def _same_point(one: _Piece, other: _Piece) -> bool:
    """Two insertions into an empty file: which comes first?"""
    return one.start == one.end == other.start == other.end


def _plan(source: Original, pieces: Sequence[_Piece], file_path: str) -> EditPlan:
    parts: list[str] = []
    spans: list[Change] = []
    position = length = 0
    for piece in pieces:
        kept = source.text[position : piece.start]
        parts += kept, piece.new
        start = length + len(kept)
        length = start + len(piece.new)
        spans.append(Change(piece.start, piece.end, start, length))
        position = piece.end
    result = "".join(parts) + source.text[position:]
    old, new = split_lines(source.text), split_lines(result)
    made = line_changes(old, new, spans)
    matches = sorted(
        (_match(source, piece) for piece in pieces),
        key=lambda match: (match.edit, match.line, match.column),
    )
    return EditPlan(
        result=result,
        result_sha256=sha256(result),
        diff=unified(old, new, made, name=file_path),
        matches=tuple(matches),
        lines_added=sum(change.new_end - change.new for change in made),
        lines_removed=sum(change.old_end - change.old for change in made),
    )


def _match(source: Original, piece: _Piece) -> EditMatch:
    line, column = source.lines.place(piece.start)
    return EditMatch(edit=piece.edit, line=line, column=column, layer=piece.layer)


def sha256(text: str) -> str:
    """Of the bytes that the file will have."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
