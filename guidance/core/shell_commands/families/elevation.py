"""Shells, editors and scripts that run with another user's rights."""

from __future__ import annotations

import re

from guidance.core.shell_commands.call import ProgramCall
from guidance.core.shell_commands.program_names import resolve_program
from guidance.core.shell_commands.program_options import (
    find_operands,
    find_option_value,
)
from guidance.core.shell_commands.walk import Walk
from guidance.core.shell_commands.word_lists import split_names

ELEVATING = split_names(
    "sudo doas su run0 gosu pkexec runas start-process saps sudoedit su-exec dzdo"
)
_SHELLS = split_names(
    "sh bash zsh dash ksh fish csh tcsh su screen tmux pwsh powershell cmd python perl ruby node irb lua"
)
_EDITORS = split_names(
    "vi vim nvim nano emacs ed pico micro joe code visudo vipw mc gedit"
)
_TAKING = (
    "-u",
    "--user",
    "-g",
    "--group",
    "-C",
    "-p",
    "--prompt",
    "-h",
    "--host",
    "-r",
    "-t",
    "-T",
    "-D",
    "-R",
)
_OF_SU = split_names("-c --command -s --shell -g --group -G -w -T")
_OPEN_SHELL = ("-i", "-s", "--login", "--shell", "-")
_ASKING = (
    "-l",
    "-v",
    "-k",
    "-K",
    "--list",
    "--validate",
    "-V",
    "--version",
    "--help",
    "-h",
)
_SCRIPT = re.compile(
    r"\.{1,2}/.*|(?:~|/home|/tmp|/opt|/root|/var/tmp|/srv|/mnt)/.*|.*\.(?:sh|bash|py|pl|rb|run)"
)
# The password comes from the command, or from a program that it names.
_PASSWORD_GIVEN = re.compile(r"-[A-Za-z]*[AS][A-Za-z]*|--stdin|--askpass")
# They run code of the packages that they fetch.
_INSTALLERS = split_names(
    "pip pip3 pipx uv npm yarn pnpm bun gem cpan cpanm luarocks composer easy_install"
)
_INSTALLING = split_names("install i add global require")
_DATABASES = split_names("psql mysql mongosh sqlplus redis-cli")
_ANSWERED = ("-c", "-f", "-e", "--command", "--file", "--execute", "-l", "--list")


def judge_elevation(walk: Walk, call: ProgramCall) -> None:
    if _is_open(call):
        walk.report.add("privilege-root", call)


def _is_open(call: ProgramCall) -> bool:
    name, argv = call.name, call.argv
    if name == "su" and ("-c" in argv or "--command" in argv):
        # What an ordinary account runs is judged for itself, unless that is a shell.
        places = find_operands(argv, taking=_OF_SU)
        users = [argv[place] for place in places if argv[place] != "-"]
        command = argv[find_option_value(argv, "-c", "--command")]
        return not users or "root" in users or resolve_program(command) in _SHELLS
    if name in ("su", "runas", "sudoedit"):
        return not (len(argv) > 1 and argv[1] in ("--version", "--help", "-V", "-h"))
    if name in ("start-process", "saps"):
        return "runas" in (word.lower() for word in argv)
    places = find_operands(argv, taking=_TAKING)
    inner = [place for place in places if "=" not in argv[place].partition("/")[0]]
    if name in ("gosu", "su-exec"):
        inner = inner[1:]
    options = argv[1 : inner[0]] if inner else argv[1:]
    if any(map(_PASSWORD_GIVEN.fullmatch, options)):
        return True
    if "-e" in options or "--edit" in options:
        return True
    if not inner:
        return any(word in _OPEN_SHELL for word in options) and not any(
            word in _ASKING[1:] for word in options
        )
    rest = argv[inner[0] :]
    return _is_open_program(rest, options)


def _is_open_program(argv: list[str], options: list[str]) -> bool:
    program = resolve_program(argv[0])
    if program == "env":
        words = [word for word in argv[1:] if word[:1] != "-" and "=" not in word]
        return bool(words) and _is_open_program(words, options)
    if program in _INSTALLERS:
        return not _INSTALLING.isdisjoint(argv[1:])
    if program in _EDITORS:
        return "-c" not in argv
    if program in _SHELLS:
        words = [word for word in argv[1:] if word[:1] != "-"]
        if any(
            word in ("-c", "-e", "-m") or re.fullmatch(r"-[a-z]*c", word)
            for word in argv[1:]
        ):
            return False
        return not words or bool(_SCRIPT.fullmatch(words[0])) or program == "su"
    if program in _DATABASES:
        return "-u" in options and not any(word in _ANSWERED for word in argv)
    return _SCRIPT.fullmatch(argv[0]) is not None
