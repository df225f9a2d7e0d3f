"""Commands that a program keeps under a name before it runs them.

`for cmd in (["git", "status"], ["git", "log"]): run(cmd)` says what it runs, and so does a
function that hands its arguments on: every call of it is a command.
"""

from __future__ import annotations

import re

from guidance.core.shell_commands.code.literals import read_literal, read_words
from guidance.core.shell_commands.shell.tree import UNKNOWN

_LONGEST = 32_768
_MOST = 32
_ARGUMENT = re.compile(r"\s*(?:\[\s*)?\*{0,2}(?:\.\.\.)?([A-Za-z_]\w*)\s*\]?\s*[,)]")
_OPENING = re.compile(r"\s*[\[(]\s*(?=[\[(])")
_BETWEEN = re.compile(r"\s*,\s*(?=[\[(])")
# Something is added to what the name holds, or put in its place.
_CHANGED = (
    r"(?:[+.|]=|<<|\[[^\]\n]{0,40}\]\s*=(?!=)"
    r"|\.\s*(?:append|extend|insert|push|unshift|concat|splice)\b)"
)
# Nothing follows that would make another text of it.
_WHOLE = re.compile(r"[ \t]*(?:[;,\n)}#]|//|\Z)")
Command = str | list[str]


def find_name(code: str, place: int) -> str | None:
    """The name that a call is given, if it is given nothing else."""
    found = _ARGUMENT.match(code, place) if len(code) <= _LONGEST else None
    return found[1] if found is not None else None


def list_named_commands(code: str, name: str) -> list[Command] | None:
    """What the name may hold; None where not all of it is written out."""
    name = re.escape(name)
    if re.search(rf"(?<![\w.]){name}\s*(?:\[[^\]\n]*\]\s*=|\.\w+\(|[-+*|]=)", code):
        # It is changed before it is run.
        return None
    if re.search(rf"(?<![\w.]){name}\s*{_CHANGED}", code):
        return None
    commands: list[Command] = []
    for match in re.finditer(
        rf"\bfor\s+(?:\(\s*)?(?:const\s+|let\s+|var\s+)?{name}\s+(?:in|of)\s+"
        rf"|(?<![\w.]){name}\s*(?::[^=\n]{{0,40}})?=(?![=>])\s*"
        rf"|\bdef\s+(\w+)\s*\(\s*\*?{name}\b[^\n]*\n",
        code,
    ):
        if match[1]:
            several = _list_calls(code, match[1])
        elif match[0].lstrip().startswith("for"):
            several = _read_several(code, match.end())
        else:
            several = _read_one(code, match.end())
        if several is None or len(commands) > _MOST:
            return None
        commands += several
    return commands or None


def _read_one(code: str, at: int) -> list[Command] | None:
    literal = read_literal(code, at)
    if literal is not None:
        whole = UNKNOWN not in literal[0] and _WHOLE.match(code, literal[1])
        return [literal[0]] if whole else None
    words = read_words(code, at)
    return [words] if words and UNKNOWN not in words[0] else None


def _read_several(code: str, at: int) -> list[Command] | None:
    """A list of lists, or of texts."""
    opening = _OPENING.match(code, at)
    if opening is None:
        words = read_words(code, at)
        if not words or any(UNKNOWN in word for word in words):
            return None
        return [*words]
    found: list[Command] = []
    place = opening.end()
    while len(found) < _MOST:
        words = read_words(code, place)
        end = _find_close(code, place)
        if not words or UNKNOWN in words[0] or end is None:
            return None
        found.append(words)
        between = _BETWEEN.match(code, end)
        if between is None:
            return found
        place = between.end()
    return None


def _find_close(code: str, at: int) -> int | None:
    """Behind the list that begins here; a bracket in a text would be a wrong guess."""
    depth = 0
    while at < len(code):
        literal = read_literal(code, at) if code[at] in "\"'`" else None
        if literal is not None:
            at = literal[1]
            continue
        depth += (code[at] in "[(") - (code[at] in "])")
        at += 1
        if depth == 0:
            return at
    return None


def _list_calls(code: str, function: str) -> list[Command] | None:
    """Each call of a function that hands on what it is given."""
    if re.search(rf"(?<!def )(?<![\w.'\"]){re.escape(function)}\b(?!\s*\()", code):
        # It goes by another name as well.
        return None
    found: list[Command] = []
    for match in re.finditer(rf"(?<!def )(?<![\w.]){re.escape(function)}\(", code):
        words = read_words(code, match.end()) or read_words(code, match.end() - 1)
        if not words or UNKNOWN in words[0] or len(found) > _MOST:
            return None
        found.append(words)
    return found or None
