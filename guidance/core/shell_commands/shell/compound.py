"""Keywords and what they open: loops, branches, groups, functions, arrays."""

from __future__ import annotations

import re

from guidance.core.shell_commands.shell.arithmetic import find_arithmetic_end
from guidance.core.shell_commands.shell.cursor import Cursor
from guidance.core.shell_commands.shell.level import Level
from guidance.core.shell_commands.shell.tree import UNKNOWN, Word
from guidance.core.shell_commands.shell.words import read_arithmetic, read_word

_OPENERS = {"if": "fi", "while": "done", "until": "done", "{": "}"}
_CLOSERS = frozenset(_OPENERS.values()) | {"esac"}
_NOTHING = frozenset({"then", "do", "else", "elif", "!", "coproc"})
# Keywords that are followed by something of their own.
HEADS = frozenset({"for", "select", "case", "function", "[["})
KEYWORDS = frozenset(_OPENERS) | _CLOSERS | _NOTHING | HEADS | {"time"}

_SPACE = re.compile(r"[ \t\r\n]*(?:(?:\\\r?\n|\#[^\n]*(?:\n|\Z))[ \t\r\n]*)*")
_BLANK = re.compile(r"[ \t\r]*(?:\\\r?\n[ \t\r]*)*")
_LOOP = re.compile(
    r"[ \t]+([A-Za-z_][A-Za-z0-9_]*)(?=[ \t\r\n;])([ \t\r\n]*in(?=[ \t\r\n;]))?"
)
_IN = re.compile(r"[ \t\r\n]*in(?=[ \t\r\n;])")
_ESAC = re.compile(r"esac(?=[ \t\r\n;|&<>()]|\Z)")
_FUNCTION = re.compile(r"[ \t]*([^ \t\r\n;|&<>()$`'\"\\]+)[ \t]*(?:\([ \t]*\))?")
_PARENTHESES = re.compile(r"[ \t]*\)")


def handle_keyword(
    cursor: Cursor, level: Level, word: str, at: int, following: str
) -> bool:
    """Deal with a keyword; True if the cursor was moved past more than the word."""
    if word in _OPENERS:
        level.open(_OPENERS[word])
    elif word in _CLOSERS:
        if not level.close(word):
            cursor.trouble = cursor.trouble or f"{word} without its beginning"
    elif word == "time":
        if following.startswith("-"):
            level.begin(at, [word])
    elif word not in _NOTHING:
        cursor.at = at + len(word)
        cursor.budget.count_step(4)
        _HEADS[word](cursor, level)
        return True
    return False


def _read_loop(cursor: Cursor, level: Level) -> None:
    at = cursor.at
    level.open("done")
    head = _LOOP.match(cursor.text, at)
    if head is not None:
        cursor.at = head.end()
        level.begin(at, [head[1]] if head[2] else [head[1], UNKNOWN]).role = "for"
        return
    blank = _BLANK.match(cursor.text, at)
    start = blank.end() if blank else at
    end = find_arithmetic_end(cursor, start)
    if end:
        cursor.at = end
        hold_word(level, Word((read_arithmetic(cursor, start, end),)), start)
    else:
        cursor.trouble = cursor.trouble or "a loop without a variable"


def _read_case(cursor: Cursor, level: Level) -> None:
    at = cursor.at
    _skip(cursor, _SPACE)
    subject = read_word(cursor)
    found = _IN.match(cursor.text, cursor.at)
    if found is None:
        cursor.trouble = cursor.trouble or "case without in"
        return
    cursor.at = found.end()
    hold_word(level, subject, at)
    level.open("esac").pattern = True
    read_case_patterns(cursor, level)


def read_case_patterns(cursor: Cursor, level: Level) -> None:
    """The patterns of one branch up to their parenthesis, or the end of the case."""
    text = cursor.text
    _skip(cursor, _SPACE)
    esac = _ESAC.match(text, cursor.at)
    if esac:
        cursor.at = esac.end()
        level.frames[-1].pattern = False
        level.close("esac")
        return
    while cursor.at < len(text):
        _skip(cursor, _SPACE)
        sign = text[cursor.at : cursor.at + 1]
        if sign in ("(", "|"):
            cursor.at += 1
        elif sign == ")":
            cursor.at += 1
            level.frames[-1].pattern = False
            return
        else:
            before = cursor.at
            word = read_word(cursor)
            if cursor.at == before:
                break
            hold_word(level, word, before)
    cursor.fail("a case that is not complete")


def hold_word(level: Level, word: str | Word, at: int) -> None:
    """Words that are not run may still hold substitutions that are."""
    if isinstance(word, Word):
        simple = level.begin(at)
        simple.role = "case"
        simple.words = [word]
        simple.dynamic = True
        level.finish(at)


def _read_function(cursor: Cursor, level: Level) -> None:
    match = _FUNCTION.match(cursor.text, cursor.at)
    if match is None:
        cursor.trouble = cursor.trouble or "a function without a name"
        return
    cursor.at = match.end()
    level.pending = match[1]


def _read_test(cursor: Cursor, level: Level) -> None:
    """`[[ … ]]`: operators inside are not the shell's."""
    text, start = cursor.text, cursor.at
    simple = level.begin(start)
    simple.role = "test"
    while cursor.at < len(text):
        _skip(cursor, _SPACE)
        before = cursor.at
        if text[before : before + 1] in tuple("&|<>();"):
            cursor.at += 1
            continue
        word = read_word(cursor)
        if word == "]]":
            level.finish(cursor.at)
            level.closed = (len(level.items), len(level.items))
            return
        if isinstance(word, Word):
            simple.words.append(word)
            simple.dynamic = True
        if cursor.at == before:
            break
    cursor.fail("a test that is not complete")


_HEADS = {
    "for": _read_loop,
    "select": _read_loop,
    "case": _read_case,
    "function": _read_function,
    "[[": _read_test,
}


def read_definition(cursor: Cursor, level: Level) -> bool:
    """`name ()`: what follows is its body, not something to run now."""
    simple = level.simple
    match = _PARENTHESES.match(cursor.text, cursor.at)
    if simple is None or match is None or len(simple.words) != 1:
        return False
    name = simple.words[0]
    if not isinstance(name, str) or simple.assignments or simple.redirects:
        return False
    cursor.at = match.end()
    level.simple = None
    level.pending = name
    _skip(cursor, _SPACE)
    # zsh and people who type fast: no blank after the brace.
    if cursor.text[cursor.at : cursor.at + 1] == "{":
        cursor.at += 1
        level.open("}")
    return True


def read_array(cursor: Cursor, level: Level, at: int) -> bool:
    """`name=(words)`."""
    simple = level.simple
    if simple is None or cursor.text[at - 1] != "=":
        return False
    # `declare name=(words)` has it among its arguments.
    declared = bool(simple.words)
    if not declared and not simple.assignments:
        return False
    values: list[str | Word] = []
    text = cursor.text
    while cursor.at < len(text):
        _skip(cursor, _SPACE)
        if text[cursor.at : cursor.at + 1] == ")":
            cursor.at += 1
            simple.dynamic = True
            if declared:
                simple.words += values
            else:
                simple.assignments[-1].value = values
            return True
        before = cursor.at
        values.append(read_word(cursor))
        if cursor.at == before:
            break
    cursor.fail("an array that is not closed")
    return True


def _skip(cursor: Cursor, pattern: re.Pattern[str]) -> None:
    cursor.budget.count_step()
    match = pattern.match(cursor.text, cursor.at)
    if match:
        cursor.at = match.end()
