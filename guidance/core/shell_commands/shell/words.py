"""Words that are more than plain text: expansions, substitutions, mixed quotes."""

from __future__ import annotations

import re

from guidance.core.shell_commands.origin import cut_origin
from guidance.core.shell_commands.shell.arithmetic import (
    find_arithmetic_end,
    make_inner_cursor,
)
from guidance.core.shell_commands.shell.cursor import Cursor
from guidance.core.shell_commands.shell.patterns import (
    ANSI_TEXT,
    BACKTICK,
    CHUNK,
    DOLLAR,
    DOUBLE,
    ESCAPE,
    LITERAL,
    NAME,
    PARAMETER,
    PAREN,
    PROCESS,
    Q_BACKTICK,
    Q_DOLLAR,
    Q_END,
    Q_ESCAPE,
    Q_LITERAL,
    QUOTED,
    SINGLE,
)
from guidance.core.shell_commands.shell.quoting import decode_ansi
from guidance.core.shell_commands.shell.tree import (
    Blank,
    Piece,
    Substitution,
    Variable,
    Word,
)

_UNTERMINATED = "a quote is not closed"
_BACKTICK_ESCAPES = re.compile(r"\\([`$\\])")
GLOB_PREFIXES = tuple("@?*!")
_GLOB_GROUP = re.compile(r"\([^()\n`$'\"]{0,200}\)")
# What a backslash takes away inside double quotes; before others it stays.
_QUOTED_ESCAPES = '"$`\\'


def read_word(cursor: Cursor) -> str | Word:
    """The word at the cursor, which stands on its first character."""
    pieces = _read_pieces(cursor)
    if all(type(piece) is str for piece in pieces):
        return "".join(pieces)  # type: ignore[arg-type]
    return Word(tuple(pieces))


def read_quoted(cursor: Cursor, *, whole: bool = False) -> list[Piece]:
    """What stands up to the closing double quote, or with `whole` up to the end."""
    pieces: list[Piece] = []
    text = cursor.text
    while cursor.at < len(text):
        cursor.budget.count_step()
        match = QUOTED.match(text, cursor.at)
        if match is None:
            # A backtick without its partner.
            cursor.fail(_UNTERMINATED)
            return pieces
        cursor.at = match.end()
        kind = match.lastindex
        if kind == Q_LITERAL:
            pieces.append(match[kind])
        elif kind == Q_ESCAPE:
            pieces.append(_keep_escaped(match[kind]))
        elif kind == Q_DOLLAR:
            pieces.append(_read_dollar(cursor, quoted=True))
        elif kind == Q_BACKTICK:
            pieces.append(_read_backticks(cursor, match, quoted=True))
        elif kind == Q_END:
            if not whole:
                return pieces
            pieces.append('"')
    if not whole:
        cursor.fail(_UNTERMINATED)
    return pieces


def read_arithmetic(cursor: Cursor, start: int, end: int) -> Piece:
    """A number that is not known, and whatever is run to get it."""
    if "$(" not in cursor.text[start:end] and "`" not in cursor.text[start:end]:
        return Blank()
    inner = make_inner_cursor(cursor, start, end)
    inner.go_deeper()
    pieces = read_quoted(inner, whole=True)
    cursor.trouble = cursor.trouble or inner.trouble
    return Variable("", True, "((", tuple(pieces))


def _read_pieces(
    cursor: Cursor, *, stop: str = "", literal: str = " \t\r\n;|&<>()"
) -> list[Piece]:
    """Pieces up to the end of the word, or up to `stop`, where these are `literal`."""
    pieces: list[Piece] = []
    text = cursor.text
    while cursor.at < len(text):
        cursor.budget.count_step()
        if stop and text[cursor.at] == stop:
            return pieces
        if stop and text[cursor.at] in literal:
            pieces.append(text[cursor.at])
            cursor.at += 1
            continue
        match = CHUNK.match(text, cursor.at)
        if match is None:
            if text[cursor.at] in "'`\\":
                cursor.fail(_UNTERMINATED)
            return pieces
        kind = match.lastindex
        if kind == LITERAL:
            plain = match[kind]
            if stop and stop in plain:
                plain = plain.partition(stop)[0]
                cursor.at += len(plain)
                pieces.append(plain)
                return pieces
            cursor.at = match.end()
            pieces.append(plain)
        elif kind == PAREN:
            if not _read_extended_glob(cursor, pieces):
                return pieces
        else:
            cursor.at = match.end()
            pieces.extend(_read_special(cursor, match))
    if stop:
        cursor.fail("a brace is not closed")
    return pieces


def _read_special(cursor: Cursor, match: re.Match[str]) -> list[Piece]:
    kind = match.lastindex
    cursor.budget.count_step()
    if kind == SINGLE:
        return [match[kind]]
    if kind == DOUBLE:
        # An empty piece, so that "" is a word.
        return ["", *read_quoted(cursor)]
    if kind == ESCAPE:
        return ["" if "\n" in match[kind] else match[kind]]
    if kind == DOLLAR:
        return [_read_dollar(cursor, quoted=False)]
    if kind == BACKTICK:
        return [_read_backticks(cursor, match, quoted=False)]
    if kind == PROCESS:
        cursor.at += 1
        return [Substitution(cursor.read_nested(")"), quoted=True, process=True)]
    raise AssertionError(kind)


def _read_dollar(cursor: Cursor, *, quoted: bool) -> Piece:
    text, at = cursor.text, cursor.at
    following = text[at : at + 1]
    if following == "(":
        end = find_arithmetic_end(cursor, at) if text.startswith("((", at) else 0
        if end:
            cursor.at = end
            return read_arithmetic(cursor, at, end)
        cursor.at += 1
        return Substitution(cursor.read_nested(")"), quoted)
    if following == "{":
        cursor.at += 1
        return _read_parameter(cursor, quoted=quoted)
    if following == "'" and not quoted:
        literal = ANSI_TEXT.match(text, at)
        if literal is None:
            cursor.fail(_UNTERMINATED)
            return ""
        cursor.at = literal.end()
        return decode_ansi(literal[1])
    if following == '"' and not quoted:
        return ""
    name = NAME.match(text, at)
    if name is None:
        return "$"
    cursor.at = name.end()
    return Variable(name[0], quoted)


def _read_parameter(cursor: Cursor, *, quoted: bool) -> Piece:
    match = PARAMETER.match(cursor.text, cursor.at)
    if match is None:
        cursor.fail("a parameter expansion that is none")
        return Blank()
    cursor.at = match.end()
    cursor.go_deeper()
    # Between braces blanks and operators are text; so is an apostrophe if the whole
    # stands in double quotes.
    literal = " \t\r\n;|&<>()" + ("'" if quoted else "")
    argument = _read_pieces(cursor, stop="}", literal=literal)
    cursor.depth -= 1
    cursor.at = min(cursor.at + 1, len(cursor.text))
    prefix, name, index, operator = match.groups()
    # ${#x} is a number and ${!x} the value of another variable.
    operator = prefix or operator or ""
    return Variable(name, quoted, operator, tuple(argument), index or "")


def _read_backticks(cursor: Cursor, match: re.Match[str], *, quoted: bool) -> Piece:
    kind = match.lastindex or 0
    raw = match[kind]
    start, end = match.span(kind)
    origin = cut_origin(cursor.origin, start, end)
    return Substitution(
        cursor.read_inside(_BACKTICK_ESCAPES.sub(r"\1", raw), origin), quoted
    )


def _read_extended_glob(cursor: Cursor, pieces: list[Piece]) -> bool:
    """`@(a|b)` and its like belong to the word; any other parenthesis ends it."""
    last = pieces[-1] if pieces else ""
    if not isinstance(last, str) or last[-1:] not in GLOB_PREFIXES:
        return False
    match = _GLOB_GROUP.match(cursor.text, cursor.at)
    if match is None:
        return False
    cursor.at = match.end()
    pieces.append(match[0])
    return True


def _keep_escaped(escaped: str) -> str:
    if escaped in _QUOTED_ESCAPES:
        return escaped
    return "" if "\n" in escaped else "\\" + escaped
