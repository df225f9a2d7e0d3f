"""The environment shown: all of it, or a variable that holds a secret."""

from __future__ import annotations

from guidance.core.shell_commands.call import ProgramCall
from guidance.core.shell_commands.families.pipelines import (
    find_reader,
    is_hunted,
    is_kept_private,
)
from guidance.core.shell_commands.program_names import resolve_program
from guidance.core.shell_commands.program_options import find_operands
from guidance.core.shell_commands.sensitive.secret_names import is_secret_variable
from guidance.core.shell_commands.shell.tree import Simple, Variable, Word
from guidance.core.shell_commands.walk import Walk
from guidance.core.shell_commands.word_lists import split_names

PRINTING = split_names("echo printf print write-output write-host")
DUMPING = split_names("env set history export declare typeset get-childitem gci dir ls")
# What hands on what it reads, so that it is shown after all.
_PASSING = split_names(
    "cat tee base64 base32 rev xxd od hexdump tr sed awk cut head tail fold less more sort grep jq nl"
)
_PRINTS_ALL = {
    "set": (("set",),),
    "export": (("export",), ("export", "-p")),
    "declare": (
        ("declare", "-x"),
        ("declare", "-p"),
        ("declare", "-px"),
        ("declare", "-xp"),
        ("declare",),
    ),
    "typeset": (("typeset", "-x"), ("typeset", "-p"), ("typeset",)),
}
_TAKING = split_names("-u --unset -C --chdir -a --argv0")
_EMPTY = ("-", "-i", "--ignore-environment", "--help", "--version")
# The command stands in their value.
_SPLITTING = ("-S", "--split-string", "-vS")
# Where PowerShell keeps it, as the word of a command that lists something.
DRIVES = split_names("env: env:* env:\\ env:\\*")
# Of these forms only a part or nothing of the value is left.
_HIDING = (":+", "+", "#", ":", "%", "%%", "##", "?", ":?")


def judge_environment(walk: Walk, call: ProgramCall) -> None:
    if call.name == "history" and is_hunted(walk, call):
        walk.report.add_whole("credential-history", call)
    elif _prints_all(call) and not is_kept_private(walk, call):
        walk.report.add_whole("credential-environment", call)
    elif call.name in PRINTING and _prints_secret(walk, call):
        walk.report.add("credential-environment", call)


def _prints_all(call: ProgramCall) -> bool:
    if call.name == "env":
        return call.more == () and _runs_nothing(call.argv)
    if tuple(call.argv) in _PRINTS_ALL.get(call.name, ()):
        return call.more == ()
    if call.name in ("get-childitem", "gci", "dir", "ls"):
        return any(word.lower() in DRIVES for word in call.argv[1:])
    return False


def _runs_nothing(argv: list[str]) -> bool:
    """Options of env and variables for it: it prints what they leave."""
    if any(word in _EMPTY or word.startswith(_SPLITTING) for word in argv[1:]):
        return False
    places = find_operands(argv, taking=_TAKING)
    return all("=" in argv[place] for place in places)


def list_secret_variables(walk: Walk, simple: Simple) -> list[str]:
    """Names of variables in its words whose values come from the environment."""
    return [
        piece.name
        for word in simple.words
        if isinstance(word, Word)
        for piece in word.pieces
        if isinstance(piece, Variable)
        and piece.operator not in _HIDING
        and piece.name not in walk.known.variables
        and is_secret_variable(piece.name)
    ]


def _prints_secret(walk: Walk, call: ProgramCall) -> bool:
    """To the screen, or through a filter; a file or a program that takes it is fine."""
    if call.first < 0 or not list_secret_variables(walk, call.simple):
        return False
    if any(
        redirect.operator in (">", ">>", ">|") for redirect in call.simple.redirects
    ):
        return False
    if call.via[-1:] == ("$(…)",):
        return False
    reader = find_reader(call.script, call.simple)
    if reader is None:
        return True
    argv = walk.known.build_argv(reader.words)
    return bool(argv) and resolve_program(argv[0]) in _PASSING
