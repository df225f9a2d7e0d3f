"""Commands of plain words, as agents run them all day: `cd app && pytest -q | tail -n 40`.

Nothing in them is expanded, defined, loaded or written, and no program of them is one that
there is anything to say about. The walk would find nothing in them: that is told here by one
pattern and the walk's own tables, in a fifth of its time (bench: tool calls). Whatever is
only a little unusual is left to the walk.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from guidance.core.shell_commands.program_table import MATTERS
from guidance.core.shell_commands.report import Program
from guidance.core.shell_commands.rules.unknown import (
    PLAIN,
    may_run_another,
    names_destroying_verb,
)
from guidance.core.shell_commands.shell.compound import KEYWORDS
from guidance.core.shell_commands.shell.quoting import unquote
from guidance.core.shell_commands.shell.reader import defines_names

# Longer ones are rare.
LONGEST = 400
# It only changes the folder, which makes a difference to programs that matter.
_CHANGES_FOLDER = "cd"
# Whatever their words are, these run nothing else.
_ALONE = (PLAIN - MATTERS.keys()) | {_CHANGES_FOLDER}
_END = r"(?=[ \t;|&]|\Z)"
# A word as STATIC has it.
_PLAIN = r"[A-Za-z0-9_./:=@%+,^~*?\[\]\-]"
_QUOTED = r"(?:'[^'\n]*'|\"[^\"$`\\\n]*\")"
_WORD = rf"(?:{_PLAIN}+|{_QUOTED}{_PLAIN}*)(?:{_QUOTED}{_PLAIN}*)*"
_WORDS = re.compile(_WORD)
# 1 the command, 2 its name; then redirections that go nowhere, and an operator.
_COMMAND = re.compile(
    rf"[ \t]*(([a-z][a-z0-9_-]*){_END}(?:[ \t]+(?![0-9&]?>){_WORD}{_END})*)"
    r"(?:[ \t]+(?:2>&1|[12&]?>[ \t]?/dev/null)(?=[ \t;|&]|\Z))*"
    r"[ \t]*(?:&&|\|\||[|;]|\Z)"
)


class PlainCommand(NamedTuple):
    """Nothing is to be said about it. `programs` are None where one of them may run
    others, which only the walk knows."""

    programs: tuple[Program, ...] | None


def read_plain_command(text: str) -> PlainCommand | None:
    """None where only the walk can tell. The caller has found no signs in it."""
    if len(text) > LONGEST or defines_names(text):
        return None
    programs: list[Program] = []
    at, alone = 0, True
    while at < len(text):
        match = _COMMAND.match(text, at)
        if match is None:
            return None
        at = match.end()
        run, name = match.group(1, 2)
        words = _split(run)
        if not _is_quiet(name, words):
            return None
        alone = alone and name in _ALONE
        programs.append(Program(name, words, text, match.span(1)))
    if not programs:
        return None
    return PlainCommand(tuple(programs) if alone else None)


def _split(run: str) -> list[str]:
    if "'" in run or '"' in run:
        return [unquote(word) for word in _WORDS.findall(run)]
    return run.split()


def _is_quiet(name: str, words: Sequence[str]) -> bool:
    """As `Walk` passes over it, or as it judges what has no rules."""
    if name in KEYWORDS:
        return False
    if name in MATTERS:
        telling = MATTERS[name]
        return name == _CHANGES_FOLDER or (
            telling is not None and telling.isdisjoint(map(str.lower, words))
        )
    if name in PLAIN:
        return True
    rest = words[1:]
    return (
        name.isalpha()
        and not names_destroying_verb(rest)
        and not may_run_another(name, rest)
    )
