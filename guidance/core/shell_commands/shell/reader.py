"""Reading shell text: every simple command of it, wherever it stands."""

from __future__ import annotations

import re
from typing import cast

from guidance.core.shell_commands.limits import ReadingBudget, TooMuchError
from guidance.core.shell_commands.origin import Origin
from guidance.core.shell_commands.shell.arithmetic import find_arithmetic_end
from guidance.core.shell_commands.shell.braces import expand_braces
from guidance.core.shell_commands.shell.compound import (
    HEADS,
    KEYWORDS,
    handle_keyword,
    hold_word,
    read_array,
    read_case_patterns,
    read_definition,
)
from guidance.core.shell_commands.shell.cursor import Cursor, Matters
from guidance.core.shell_commands.shell.heredocs import close_heredocs, open_heredoc
from guidance.core.shell_commands.shell.level import Level
from guidance.core.shell_commands.shell.patterns import (
    ASSIGNMENT,
    BLANKS,
    CLOSE,
    DOUBLE_QUOTED,
    NEXT,
    OPEN,
    OPERATOR,
    OTHER,
    REDIRECT,
    RUN,
    RUN_END,
    SHORT_RUN,
    STATIC,
    TARGET,
    VARIABLE,
    VARIABLES,
)
from guidance.core.shell_commands.shell.quoting import unquote
from guidance.core.shell_commands.shell.tree import (
    Assignment,
    Heredoc,
    Redirect,
    Script,
    Variable,
    Word,
)
from guidance.core.shell_commands.shell.words import (
    GLOB_PREFIXES,
    read_arithmetic,
    read_word,
)
from guidance.core.shell_commands.word_lists import TELLING, VERB_IN_WORD

# Operators after which nobody reads what the command before them printed.
_ENDS = ("&&", "||")
_LONG = 1_024


def read_shell(
    text: str,
    *,
    origin: Origin,
    budget: ReadingBudget,
    depth: int = 0,
    matters: Matters | None = None,
) -> Script:
    """The commands of a whole text. Never fails: what is wrong is said in the script.

    With `matters` commands that are not among them are left out, where that is safe.
    """
    if defines_names(text):
        # It defines names of its own.
        matters = None
    cursor = Cursor(text, origin, budget, read_list, depth=depth, matters=matters)
    level = Level()
    try:
        return _read(cursor, "", level)
    except TooMuchError as error:
        level.leave_open()
        return Script(text, origin, level.items, too_much=str(error))


def defines_names(text: str) -> bool:
    """Not in a loop: every text that is read is asked (bench: "a whole call")."""
    return (
        "()" in text
        or "alias" in text
        or "function" in text
        or "PATH=" in text
        or "hash -p" in text
    )


def read_list(cursor: Cursor, closer: str) -> Script:
    """Commands up to a closing parenthesis, or to the end of the text."""
    return _read(cursor, closer, Level())


def _read(cursor: Cursor, closer: str, level: Level) -> Script:
    text, matters, budget = cursor.text, cursor.matters, cursor.budget
    read_next = NEXT.match
    outer, cursor.heredocs = cursor.heredocs, []
    closed = not closer
    while True:
        budget.steps -= 1
        if budget.steps < 0:
            budget.count_step()
        match = read_next(text, cursor.at)
        kind = match.lastindex if match is not None else None
        if match is None or kind is None:
            cursor.at = len(text)
            break
        cursor.at = match.end()
        if kind <= RUN_END:
            run, operator = match.group(RUN, RUN_END)
            words = run.split()
            if (
                operator is not None
                and matters is not None
                and level.simple is None
                and (telling := matters.get(words[0], TELLING)) is not None
                and telling.isdisjoint(words)
                and (telling is not TELLING or VERB_IN_WORD.search(run) is None)
                and words[0].isalpha()
                and (run.islower() or _is_quiet(words, telling))
                and (operator[0] in "\n;" or operator in _ENDS)
            ):
                # Nothing to say about it, and nobody reads what it prints.
                level.closed = None
            elif _read_words(cursor, level, run, words, match.start(RUN)):
                continue
            if operator is not None:
                _read_operator(cursor, level, operator, match.start(RUN_END))
        elif kind == OPERATOR:
            _read_operator(cursor, level, match[OPERATOR], match.start())
        elif kind == SHORT_RUN:
            run = match[SHORT_RUN]
            _read_words(cursor, level, run, run.split(), match.start(SHORT_RUN))
        elif kind == STATIC:
            raw = match[STATIC]
            if len(raw) > _LONG:
                # Taking quotes and escapes away takes its time.
                signs = raw.count("\\") + raw.count("'") + raw.count('"')
                budget.count_step(len(raw) // 64 + signs // 8)
            _add_static_word(level, raw, match.start(STATIC))
        elif kind == OTHER:
            _read_other(cursor, level, match.start(OTHER))
        elif kind == REDIRECT:
            _read_redirect(cursor, level, match[REDIRECT], match.start(REDIRECT))
        elif kind == OPEN:
            _open_group(cursor, level, match.start(OPEN))
        elif kind == CLOSE:
            level.finish(match.start())
            if level.close(")"):
                continue
            if closer:
                closed = True
                break
            cursor.trouble = cursor.trouble or "a parenthesis is not opened"
    level.finish(cursor.at if not closer else max(0, cursor.at - 1))
    if level.frames or not closed or cursor.heredocs:
        cursor.trouble = cursor.trouble or "a command is not complete"
    level.leave_open()
    cursor.heredocs = outer
    return Script(
        text,
        cursor.origin,
        level.items,
        cursor.trouble,
        unread=cursor.unread,
        bodies=cursor.bodies,
    )


def _is_quiet(words: list[str], telling: frozenset[str]) -> bool:
    """Some programs take their verbs in capitals, too."""
    return words[0].islower() and telling.isdisjoint(map(str.lower, words))


def _read_words(
    cursor: Cursor, level: Level, run: str, words: list[str], start: int
) -> bool:
    """Plain words; True if a keyword among them read on by itself."""
    simple = level.simple
    if simple is not None and simple.words:
        simple.words += expand_braces(words, cursor.budget) if "{" in run else words
        return False
    first = words[0]
    if simple is None and first not in KEYWORDS and "=" not in first:
        plain = cast("list[str | Word]", words)
        level.begin(start, expand_braces(words, cursor.budget) if "{" in run else plain)
        return False
    if first in HEADS and simple is None:
        return handle_keyword(cursor, level, first, start, "")
    at = start
    for index, word in enumerate(words):
        cursor.budget.count_step()
        at = cursor.text.index(word, at)
        if level.simple is None and word in KEYWORDS:
            following = words[index + 1] if index + 1 < len(words) else ""
            if handle_keyword(cursor, level, word, at, following):
                return True
            begun = level.get_current()
            if begun is not None:
                begun.words += expand_braces(words[index + 1 :], cursor.budget)
                return False
        elif not _read_assignment(level, word, word, at):
            simple = level.simple or level.begin(at)
            simple.words += expand_braces(words[index:], cursor.budget)
            return False
        at += len(word)
    return False


def _read_assignment(level: Level, raw: str, word: str | Word, at: int) -> bool:
    """`NAME=value` before the command's name."""
    match = ASSIGNMENT.match(raw) if "=" in raw else None
    if match is None:
        return False
    value: str | Word
    if isinstance(word, Word):
        first = word.pieces[0]
        head = first[match.end() :] if isinstance(first, str) else ""
        value = Word((head, *word.pieces[1:]))
    else:
        value = raw[match.end() :]
        value = unquote(value) if value and raw is not word else value
    simple = level.assign(Assignment(match[1], value, bool(match[2])), at)
    simple.dynamic = simple.dynamic or isinstance(word, Word)
    return True


def _add_static_word(level: Level, raw: str, start: int) -> None:
    simple = level.simple
    if simple is None or not simple.words:
        if _read_assignment(level, raw, "", start):
            return
        simple = level.simple or level.begin(start)
    simple.words.append(unquote(raw))


def _read_one_word(cursor: Cursor, start: int) -> str | Word:
    """Most words that are expanded are a variable, or text and variables in quotes."""
    variable = VARIABLE.match(cursor.text, start)
    if variable is not None and _is_balanced(variable):
        cursor.at = variable.end()
        return Word((Variable(variable[3], bool(variable[1])),))
    quoted = DOUBLE_QUOTED.match(cursor.text, start)
    if quoted is None:
        cursor.at = start
        return read_word(cursor)
    cursor.at = quoted.end()
    parts = VARIABLES.split(quoted[1])
    cursor.budget.count_step(len(parts) // 2)
    if len(parts) == 1:
        return parts[0]
    return Word(
        tuple(
            [
                Variable(part, True) if index % 2 else part
                for index, part in enumerate(parts)
            ]
        )
    )


def _read_other(cursor: Cursor, level: Level, start: int) -> None:
    word = _read_one_word(cursor, start)
    if cursor.at == start:
        cursor.at += 1
        cursor.trouble = cursor.trouble or "a character that is out of place"
        return
    simple = level.simple
    if simple is None or not simple.words:
        raw = cursor.text[start : cursor.at]
        if isinstance(word, Word) and _read_assignment(level, raw, word, start):
            return
        if isinstance(word, str) and ASSIGNMENT.match(raw) and "=" in word:
            name, _, value = word.partition("=")
            append = name.endswith("+")
            level.assign(Assignment(name.rstrip("+"), value, append), start)
            return
        simple = level.simple or level.begin(start)
    simple.words.append(word)
    if isinstance(word, Word):
        simple.dynamic = True


def _is_balanced(match: re.Match[str]) -> bool:
    return match[1] == match[5] and bool(match[2]) == bool(match[4])


def _read_operator(cursor: Cursor, level: Level, operator: str, end: int) -> None:
    if operator[0] == "\n":
        level.read_operator("\n", end)
        if cursor.heredocs:
            # Blank lines at its beginning are part of the text.
            cursor.at -= len(operator) - 1
            close_heredocs(cursor)
    else:
        level.read_operator(operator, end)
    if level.frames:
        frame = level.frames[-1]
        if operator in (";;", ";&", ";;&"):
            frame.pattern = frame.closer == "esac"
        if frame.pattern:
            read_case_patterns(cursor, level)


def _read_redirect(cursor: Cursor, level: Level, raw: str, start: int) -> None:
    cursor.budget.count_step()
    operator = raw.lstrip("0123456789")
    target: str | Word | Heredoc | None
    if operator == "<<" or operator == "<<-":
        target = open_heredoc(cursor, operator=operator)
        if target is None:
            return
    else:
        plain = TARGET.match(cursor.text, cursor.at)
        if plain is not None:
            cursor.at = plain.end()
            target = plain[1]
        else:
            blanks = BLANKS.match(cursor.text, cursor.at)
            cursor.at = begin = blanks.end() if blanks else cursor.at
            target = _read_one_word(cursor, begin)
            if cursor.at == begin:
                cursor.trouble = cursor.trouble or "a redirection without a target"
                return
    descriptor = raw[: len(raw) - len(operator)]
    level.redirect(Redirect(operator, target, descriptor), start)
    if level.simple is not None and not isinstance(target, str):
        level.simple.dynamic = True


def _read_pattern(cursor: Cursor, level: Level, at: int) -> bool:
    """`src/!(main|test).c`: the parenthesis belongs to the word before it."""
    simple = level.simple
    words = simple.words if simple is not None else []
    last = words[-1] if words else ""
    if not isinstance(last, str) or not cursor.text.endswith(last, 0, at):
        return False
    if last[-1:] not in GLOB_PREFIXES or cursor.text.startswith("()", at):
        return False
    cursor.at = at - len(last)
    words[-1] = word = read_word(cursor)
    if simple is not None and isinstance(word, Word):
        simple.dynamic = True
    return cursor.at > at


def _open_group(cursor: Cursor, level: Level, at: int) -> None:
    if level.simple is None:
        end = find_arithmetic_end(cursor, at)
        if end:
            cursor.at = end
            hold_word(level, Word((read_arithmetic(cursor, at, end),)), at)
            level.closed = (len(level.items), len(level.items))
        else:
            level.open(")")
    elif (
        not read_array(cursor, level, at)
        and not _read_pattern(cursor, level, at)
        and not read_definition(cursor, level)
    ):
        level.finish(at)
        level.open(")")
        cursor.trouble = cursor.trouble or "a parenthesis that is out of place"
