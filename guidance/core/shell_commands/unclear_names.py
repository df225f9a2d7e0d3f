"""Names of programs that say too little, or something else than they seem to."""

from __future__ import annotations

import re

from guidance.core.shell_commands.call import ProgramCall
from guidance.core.shell_commands.characters import is_disguised
from guidance.core.shell_commands.limits import ReadingBudget
from guidance.core.shell_commands.program_names import is_expression, may_match
from guidance.core.shell_commands.script_state import ScriptState
from guidance.core.shell_commands.shell.cursor import Matters
from guidance.core.shell_commands.shell.tree import UNKNOWN, Simple, Variable, Word
from guidance.core.shell_commands.word_lists import split_names

_GLOBS = frozenset("*?[(")
# Trying a pattern on all names costs as much as several commands.
_COST_OF_PATTERN = 10


# Variables that PowerShell itself sets; to say one is to print it.
_AUTOMATIC = split_names(
    "lastexitcode psversiontable psscriptroot pscommandpath myinvocation true false null "
    "erroractionpreference profile pshome executioncontext matches"
)
# How PowerShell writes a text over several lines; backticks are escapes in it.
# What stands in parentheses after it is given to it: `[IO.File]::ReadAllText($path)`.
_METHOD = re.compile(r"\]::\w+\(\s*\Z")
_LONGEST_METHOD = 80
HERE_STRING = '@"…"@'


def begins_here_string(simple: Simple) -> bool:
    word = simple.words[0] if simple.words else ""
    if not isinstance(word, Word):
        return False
    head = "".join([piece for piece in word.pieces[:3] if isinstance(piece, str)])
    return head[:2] == "@\n"


def find_unclear_name(
    call: ProgramCall, known: ScriptState, matters: Matters, budget: ReadingBudget
) -> str | None:
    """The rule it comes under, "" if nothing is run at all, None if the name is clear."""
    name = call.name
    if call.argv[0][:2] == "@\n":
        return ""
    if UNKNOWN in name:
        return "" if _is_only_a_value(call, known) else "opaque-name"
    if len(name) > 1 and not _GLOBS.isdisjoint(name) and not _is_quoted(call):
        budget.count_commands(_COST_OF_PATTERN)
        return "opaque-name" if may_match(name, matters) else ""
    return "opaque-characters" if is_disguised(name, matters) else None


def _is_only_a_value(call: ProgramCall, known: ScriptState) -> bool:
    """PowerShell: `$x = 5`, `$x | sort`, and a text over several lines."""
    if HERE_STRING in call.via or _is_sentence(call.argv[0]):
        return True
    if _METHOD.search(call.script.text[: call.simple.start][-_LONGEST_METHOD:]):
        return True
    variable = _get_variable(call)
    if variable.lower() in _AUTOMATIC and len(call.argv) == 1:
        return True
    if variable.lower() == "env" and call.argv[0].startswith(f"{UNKNOWN}:"):
        return True
    if is_expression(call.argv):
        if variable and call.argv[1:2] == ["="]:
            known.values.add(variable)
        return True
    # `& $x` calls it: how the value came about is PowerShell's to say.
    alone = len(call.argv) == 1 or call.simple.joined == "&"
    return alone and variable in known.values


def _is_sentence(word: str) -> bool:
    """A text that PowerShell prints: `"stopped $id"`. No program has a name like that."""
    begins = word.partition(UNKNOWN)[0]
    return " " in begins and "/" not in begins and "\n" not in begins


def _get_variable(call: ProgramCall) -> str:
    """The variable that the command begins with."""
    word = call.simple.words[0] if call.simple.words else ""
    piece = word.pieces[0] if isinstance(word, Word) else ""
    return piece.name if isinstance(piece, Variable) else ""


def _is_quoted(call: ProgramCall) -> bool:
    """Between quotes nothing is a pattern."""
    text, start = call.script.text, call.simple.start
    word = call.argv[0]
    start += len(text[start : call.simple.end]) - len(
        text[start : call.simple.end].lstrip()
    )
    return text.startswith((f"'{word}'", f'"{word}"'), start)
