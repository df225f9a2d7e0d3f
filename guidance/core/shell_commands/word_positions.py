"""Find where the words of a command stand, once a finding has to show them.

Judging needs no offsets of words, so the reader keeps none; they are worked out here for
the few commands that trip, and for a reviewer's screen.
"""

from __future__ import annotations

import re

from guidance.core.shell_commands.limits import (
    ReadingBudget,
    TooMuchError,
)
from guidance.core.shell_commands.origin import Marks, Origin
from guidance.core.shell_commands.shell.cursor import Cursor
from guidance.core.shell_commands.shell.heredocs import open_heredoc
from guidance.core.shell_commands.shell.patterns import ASSIGNMENT, BLANKS, REDIRECTION
from guidance.core.shell_commands.shell.quoting import decode_ansi
from guidance.core.shell_commands.shell.reader import read_list
from guidance.core.shell_commands.shell.tree import Script, Simple
from guidance.core.shell_commands.shell.words import read_word

# More than this in all commands of a report, and whole commands are marked instead of
# their words.
MOST_PLACED = 4_000
# One plain word, or a redirection to one, as `_find_spans` reads them.
_PLAIN = r"""[^ \t\r\n;|&<>()'"`$\\]"""
_PLAIN_WORD = re.compile(
    rf"[ \t\r]*(?:(?!\#|[0-9]+[<>])({_PLAIN}+)|([0-9]*(?:>&|>>?|<)[ \t]*{_PLAIN}+))"
    r"(?=[ \t\r\n;|&)]|\Z)"
)
_BETWEEN = re.compile(r"[ \t\r]*(?:\\\r?\n[ \t\r]*)*")
_NUMBER = re.compile(r"[0-9]*")
# One group for the quote that opens or closes and one for what is expanded and counts
# as one character; the others hold text.
_EXPANDED = r"(?P<expanded>\$(?:\{[^}]*\}|[A-Za-z_]\w*|[0-9@*#?$!-]))"
_PIECE = re.compile(
    rf"""'([^']*)'|(?P<quote>")|\\(.)|\$'(?P<ansi>[^'\\]*(?:\\.[^'\\]*)*)'|{_EXPANDED}"""
    r"""|([^'"\\$]+)""",
    re.DOTALL,
)
_QUOTED_PIECE = re.compile(
    rf"""([^"\\$`]+)|\\([\\"$`])|(?P<quote>")|{_EXPANDED}|(\\)""", re.DOTALL
)
_ANSI_PIECE = re.compile(
    r"\\(?:x[0-9A-Fa-f]{1,2}|u[0-9A-Fa-f]{1,4}|[0-7]{1,3}|.)|[^\\]+", re.DOTALL
)


def place_words(
    script: Script, simple: Simple, budget: ReadingBudget
) -> list[tuple[int, int]]:
    """The spans of its words, or nothing if they are not one to one or too many."""
    try:
        spans = _find_plain_spans(script.text, simple, budget)
        if spans is None:
            spans = _find_spans(script.text, simple, budget)
    except TooMuchError:
        return []
    spans = spans[_count_assignments(script.text, spans) :]
    return spans if len(spans) == len(simple.words) else []


def _find_plain_spans(
    text: str, simple: Simple, budget: ReadingBudget
) -> list[tuple[int, int]] | None:
    """The same as `_find_spans` at the same price, None where it has to read for itself:
    most commands are plain words (bench: tool calls)."""
    at, end, count = simple.start, simple.end, 0
    spans: list[tuple[int, int]] = []
    read = _PLAIN_WORD.match
    while at < end:
        match = read(text, at)
        if match is None:
            if text[at:end].strip(" \t\r"):
                return None
            break
        kind = match.lastindex or 0
        if match.start(kind) >= end:
            break
        count += 2
        at = match.end()
        if kind == 1:
            spans.append(match.span(1))
    if at == len(text) and count:
        count -= 1
    if count > budget.steps:
        return None
    budget.steps -= count
    return spans


def _find_spans(
    text: str, simple: Simple, budget: ReadingBudget
) -> list[tuple[int, int]]:
    """Of everything that looks like a word, assignments included."""
    origin = Origin(place=(0, len(text)))
    cursor = Cursor(text, origin, budget, read_list, at=simple.start)
    spans: list[tuple[int, int]] = []
    while True:
        cursor.at = start = _find_end(_BETWEEN, text, cursor.at)
        if start >= simple.end or text[start] == "#":
            break
        number = _find_end(_NUMBER, text, start)
        redirect = REDIRECTION.match(text, number)
        if redirect is not None:
            cursor.at = redirect.end()
            _skip_target(cursor, redirect[0])
            continue
        read_word(cursor)
        if cursor.at == start:
            break
        spans.append((start, cursor.at))
    return spans


def build_word_marks(text: str, start: int, end: int, *, length: int) -> Marks:
    """Where each piece of a word's value stands in its raw text.

    Nothing if that does not come to the `length` of the value: then it was expanded.
    """
    marks: list[tuple[int, int]] = []
    done, at = 0, start
    quoted = False
    while at < end:
        match = (_QUOTED_PIECE if quoted else _PIECE).match(text, at, end)
        if match is None:
            return ()
        kind = match.lastgroup
        at = match.end()
        if kind == "quote":
            quoted = not quoted
        elif kind == "ansi":
            for piece in _ANSI_PIECE.finditer(text, *match.span("ansi")):
                marks.append((done, piece.start()))
                done += len(decode_ansi(piece[0]))
        else:
            group = match.lastindex or 0
            marks.append((done, match.start(group)))
            done += 1 if kind == "expanded" else len(match[group])
    return marks if done == length else ()


def _skip_target(cursor: Cursor, operator: str) -> None:
    if operator in ("<<", "<<-"):
        open_heredoc(cursor, operator=operator)
        return
    cursor.at = _find_end(BLANKS, cursor.text, cursor.at)
    read_word(cursor)


def _count_assignments(text: str, spans: list[tuple[int, int]]) -> int:
    count = 0
    for start, end in spans:
        if not ASSIGNMENT.match(text, start, end):
            break
        count += 1
    return count


def _find_end(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at
