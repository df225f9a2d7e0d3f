"""Builtins that change what is known: variables, aliases, the working folder, files."""

from __future__ import annotations

from guidance.core.shell_commands.call import Call
from guidance.core.shell_commands.paths import (
    is_temporary,
    is_temporary_root,
    may_be_temporary,
)
from guidance.core.shell_commands.program_options import glued, operands, value_of
from guidance.core.shell_commands.script_state import Content, Printed
from guidance.core.shell_commands.shell.patterns import ASSIGNMENT
from guidance.core.shell_commands.shell.tree import UNKNOWN
from guidance.core.shell_commands.walk import Handler, Walk

_MOST_BROUGHT = 16


def declare(walk: Walk, call: Call) -> None:
    for word in call.argv[1:]:
        match = ASSIGNMENT.match(word)
        if match:
            value = word[match.end() :]
            walk.known.store(match[1], value, branch=call.simple.branch)


def alias(walk: Walk, call: Call) -> None:
    for word in call.argv[1:]:
        name, equals, text = word.partition("=")
        if equals and name:
            walk.known.aliases[name] = text


def unalias(walk: Walk, call: Call) -> None:
    for word in call.argv[1:]:
        walk.known.aliases.pop(word, None)


def positional(walk: Walk, call: Call) -> None:
    """`set -- words`."""
    if "--" in call.argv:
        place = call.argv.index("--")
        walk.known.positional = tuple(call.argv[place + 1 :])


def read(walk: Walk, call: Call) -> None:
    for place in operands(call.argv, taking=("-p", "-d", "-n", "-N", "-t", "-u", "-a")):
        walk.known.store(call.argv[place], UNKNOWN)


def unset(walk: Walk, call: Call) -> None:
    for word in call.argv[1:]:
        walk.known.variables.pop(word, None)
        walk.known.functions.pop(word, None)


def change_folder(walk: Walk, call: Call) -> None:
    """Only a temporary folder is remembered, for nothing else makes a difference."""
    known = walk.known
    path = call.argv[1] if len(call.argv) == 2 else call.argv[-1]
    if len(call.argv) < 2 or not may_be_temporary(path, folder=known.folder):
        known.folder = ""
        return
    temporary = is_temporary(path, folder=known.folder) or is_temporary_root(path)
    if temporary and not path.startswith("/"):
        path = f"{known.folder}/{path}"
    known.folder = path if temporary else ""
    known.folder_frames = call.simple.frames


def write(walk: Walk, call: Call) -> None:
    """tee: what it reads is what the files hold."""
    walk.judge(call)
    append = "-a" in call.argv or "--append" in call.argv
    printed = Printed(call.script, call.simple)
    for place in operands(call.argv):
        walk.known.write(call.argv[place], printed, append=append)


def copy(walk: Walk, call: Call) -> None:
    walk.judge(call)
    places = operands(call.argv, taking=("-t", "-S", "-m", "-o", "-g"))
    if len(places) == 2:
        content = walk.known.file(call.argv[places[0]])
        if content is not None:
            walk.known.write(call.argv[places[1]], content, append=False)


def move(walk: Walk, call: Call) -> None:
    """What was moved to a temporary folder is no less worth for that."""
    copy(walk, call)
    _brought(walk, call, walk.known.moved)


def link(walk: Walk, call: Call) -> None:
    walk.judge(call)
    if any(word[:1] == "-" and "s" in word for word in call.argv[1:]):
        _brought(walk, call, walk.known.linked)


def _brought(walk: Walk, call: Call, found: list[str]) -> None:
    """Remember the temporary paths that something from elsewhere gets."""
    paths = [call.argv[place] for place in operands(call.argv, taking=("-S",))]
    if len(paths) < 2 or len(found) > _MOST_BROUGHT:
        return
    folder = walk.known.folder
    target = paths.pop().rstrip("/")
    for path in paths[:_MOST_BROUGHT]:
        if not is_temporary(path, folder=folder):
            inside = f"{target}/{path.rstrip('/').rpartition('/')[2]}"
            found += [each for each in (target, inside) if is_temporary(each)]


def download(walk: Walk, call: Call) -> None:
    """curl and wget: remember which files come from the network."""
    walk.judge(call)
    argv = call.argv
    flags = ("-o", "--output") if call.name == "curl" else ("-O", "--output-document")
    place = value_of(argv, *flags)
    names = [glued(argv[place], *flags) or argv[place]] if place else []
    names += [name for word in argv[1:] if (name := glued(word, *flags))]
    remote = call.name == "wget" or any(
        word[:1] == "-" and word[1:2] != "-" and "O" in word for word in argv[1:]
    )
    if not names and remote:
        names = [word.rpartition("/")[2] for word in argv[1:] if "/" in word]
    for name in names:
        if name not in ("", "-", "/dev/null"):
            walk.known.write(name, Content(opaque="download"), append=False)


HANDLERS: dict[str, Handler] = {
    **dict.fromkeys(("export", "declare", "typeset", "local", "readonly"), declare),
    "alias": alias,
    "unalias": unalias,
    "set": positional,
    "read": read,
    "unset": unset,
    "cd": change_folder,
    "pushd": change_folder,
    "tee": write,
    "cp": copy,
    "mv": move,
    "ln": link,
    "install": copy,
    "curl": download,
    "wget": download,
}
