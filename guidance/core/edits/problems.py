"""The problems of an edit, each with a message that says what to do."""

from __future__ import annotations

from collections.abc import Sequence

from guidance.core.edits.edit import EditProblem

Place = tuple[int, int]

# So many places are named in one message.
NAMED_PLACES = 5


def refuse_too_large(message: str, edit: int = 0) -> EditProblem:
    return EditProblem(edit=edit, trouble="too-large", message=message)


def refuse_empty_old(edit: int) -> EditProblem:
    message = "old is empty, but the file is not; say what is to be replaced"
    return EditProblem(
        edit=edit, trouble="empty-old", message=f"edits[{edit}]: {message}"
    )


def refuse_no_match(edit: int, *, left_out: bool) -> EditProblem:
    """`left_out` says that what is nearly the same was not looked for."""
    message = f"edits[{edit}]: old does not stand in the file"
    if left_out:
        message += "; similar lines were not looked for, there is too much to compare"
    return EditProblem(edit=edit, trouble="no-match", message=message)


def refuse_ambiguous(edit: int, places: Sequence[Place]) -> EditProblem:
    named = ", ".join(f"{line}:{column}" for line, column in places[:NAMED_PLACES])
    more = len(places) > NAMED_PLACES
    message = (
        f"edits[{edit}]: old stands in {'more than ' if more else ''}"
        f"{min(len(places), NAMED_PLACES)} places ({named}{' …' if more else ''}); "
        "give more of what is around it, or set replace_all"
    )
    line, column = places[0]
    return EditProblem(
        edit=edit, trouble="ambiguous", message=message, line=line, column=column
    )


def refuse_overlap(one: int, at: Place, other: int, place: Place) -> EditProblem:
    message = (
        f"edits[{one}] at {at[0]}:{at[1]} and "
        f"edits[{other}] at {place[0]}:{place[1]} overlap"
    )
    line, column = place
    return EditProblem(
        edit=other, trouble="overlap", message=message, line=line, column=column
    )
