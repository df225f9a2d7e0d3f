"""Builtins that change what is known: variables, aliases, the working folder, files."""

from __future__ import annotations

import re

from guidance.core.shell_commands.call import ProgramCall
from guidance.core.shell_commands.paths import (
    is_temporary,
    is_temporary_root,
    leads_away,
    may_be_temporary,
)
from guidance.core.shell_commands.program_options import (
    find_operands,
    find_option_value,
    read_attached_value,
)
from guidance.core.shell_commands.script_state import Content, Printed
from guidance.core.shell_commands.shell.patterns import ASSIGNMENT
from guidance.core.shell_commands.shell.tree import UNKNOWN, Assignment
from guidance.core.shell_commands.unwrap.settings import follow_setting, is_run
from guidance.core.shell_commands.unwrap.transfers import judge_requests
from guidance.core.shell_commands.walk import Handler, Walk

_STOPS = re.compile(r"-[a-z]*e[a-z]*")


def follow_declare(walk: Walk, call: ProgramCall) -> None:
    named = any(word[:1] == "-" and "n" in word for word in call.argv[1:])
    for word in call.argv[1:]:
        match = ASSIGNMENT.match(word)
        if match:
            value = word[match.end() :]
            if named:
                # It stands for another variable, whatever that will hold.
                value = UNKNOWN
            walk.known.store(match[1], value, branch=call.simple.branch)
            if is_run(match[1]):
                follow_setting(walk, call, Assignment(match[1], value))


def follow_alias(walk: Walk, call: ProgramCall) -> None:
    for word in call.argv[1:]:
        name, equals, text = word.partition("=")
        if equals and name:
            walk.known.aliases[name] = text


def follow_unalias(walk: Walk, call: ProgramCall) -> None:
    for word in call.argv[1:]:
        walk.known.aliases.pop(word, None)


def follow_set(walk: Walk, call: ProgramCall) -> None:
    """`set -- words`, and `set -e`: after it every command must have succeeded."""
    if any(word == "errexit" or _STOPS.fullmatch(word) for word in call.argv[1:4]):
        walk.known.stopping = call.script
    elif any(word[:1] == "+" for word in call.argv[1:4]):
        walk.known.stopping = None
    if "--" in call.argv:
        place = call.argv.index("--")
        walk.known.positional = tuple(call.argv[place + 1 :])


def follow_read(walk: Walk, call: ProgramCall) -> None:
    for place in find_operands(
        call.argv, taking=("-p", "-d", "-n", "-N", "-t", "-u", "-a")
    ):
        walk.known.store(call.argv[place], UNKNOWN)


def follow_unset(walk: Walk, call: ProgramCall) -> None:
    for word in call.argv[1:]:
        walk.known.variables.pop(word, None)
        walk.known.functions.pop(word, None)


def follow_cd(walk: Walk, call: ProgramCall) -> None:
    """Only a temporary folder is remembered, for nothing else makes a difference."""
    known = walk.known
    path = call.argv[1] if len(call.argv) == 2 else call.argv[-1]
    known.left = known.left or leads_away(path)
    if len(call.argv) < 2 or not may_be_temporary(path, folder=known.folder):
        known.folder = ""
        return
    temporary = is_temporary(path, folder=known.folder) or is_temporary_root(path)
    if temporary and not path.startswith("/"):
        path = f"{known.folder}/{path}"
    if call.script.text[call.simple.end :].lstrip().startswith("||"):
        # What follows runs as well if there is no such folder.
        temporary = False
    known.folder = path if temporary else ""
    known.folder_frames = call.simple.frames


def follow_tee(walk: Walk, call: ProgramCall) -> None:
    """tee: what it reads is what the files hold."""
    walk.judge(call)
    append = "-a" in call.argv or "--append" in call.argv
    printed = Printed(call.script, call.simple)
    for place in find_operands(call.argv):
        walk.known.write_file(call.argv[place], printed, append=append)


def follow_pipe(walk: Walk, call: ProgramCall) -> None:
    """mkfifo: what runs it, runs whatever is written to it later."""
    if call.name == "mkfifo" or call.argv[-1:] == ["p"]:
        for place in find_operands(call.argv, taking=("-m", "--mode")):
            path = call.argv[place]
            walk.known.write_file(path, Content(opaque="stdin"), append=False)
    walk.judge(call)


def follow_copy(walk: Walk, call: ProgramCall) -> None:
    walk.judge(call)
    places = find_operands(call.argv, taking=("-t", "-S", "-m", "-o", "-g"))
    if len(places) == 2:
        _follow_program(walk, call.argv[places[0]], call.argv[places[1]])
        source = call.argv[places[0]]
        given = walk.find_stdin(call) if source == "/dev/stdin" else None
        content = given or walk.known.get_file(source)
        if content is not None:
            walk.known.write_file(call.argv[places[1]], content, append=False)


def follow_move(walk: Walk, call: ProgramCall) -> None:
    """What was moved to a temporary folder is no less worth for that."""
    follow_copy(walk, call)
    _mark_brought(walk, call, walk.known.moved)


def follow_link(walk: Walk, call: ProgramCall) -> None:
    walk.judge(call)
    places = find_operands(call.argv, taking=("-S", "-t"))
    if len(places) == 2:
        source, target = (call.argv[place] for place in places)
        _follow_program(walk, source, target)
        content = walk.known.get_file(source)
        if content is not None:
            walk.known.write_file(target, content, append=True)
    if any(word[:1] == "-" and "s" in word for word in call.argv[1:]):
        _mark_brought(walk, call, walk.known.linked)


def _follow_program(walk: Walk, source: str, target: str) -> None:
    """A program gets another name: by a link, a copy, or the shell's own table."""
    name = source.rpartition("/")[2]
    if "/bin/" not in source and "/sbin/" not in source and name != source:
        return
    if not walk.is_known(name) or target.endswith("/"):
        return
    known = walk.known.aliases
    known[target] = source
    folder, _, last = target.rpartition("/")
    if not folder:
        known[f"./{target}"] = source
    elif "PATH" in walk.known.variables:
        known[last] = source


def follow_hash(walk: Walk, call: ProgramCall) -> None:
    """`hash -p /bin/rm ls`."""
    argv = call.argv
    place = find_option_value(argv, "-p")
    if place and place + 1 < len(argv):
        walk.known.aliases[argv[place + 1]] = argv[place]


def _mark_brought(walk: Walk, call: ProgramCall, found: list[str]) -> None:
    """Remember the temporary paths that something from elsewhere gets."""
    paths = [call.argv[place] for place in find_operands(call.argv, taking=("-S",))]
    if len(paths) < 2:
        return
    folder = walk.known.folder
    target = paths.pop().rstrip("/")
    for path in paths:
        if not is_temporary(path, folder=folder):
            inside = f"{target}/{path.rstrip('/').rpartition('/')[2]}"
            found += [each for each in (target, inside) if is_temporary(each)]


def follow_download(walk: Walk, call: ProgramCall) -> None:
    """curl and wget: remember which files come from the network."""
    walk.judge(call)
    if call.name == "curl":
        judge_requests(walk, call)
    argv = call.argv
    flags = ("-o", "--output") if call.name == "curl" else ("-O", "--output-document")
    place = find_option_value(argv, *flags)
    names = [read_attached_value(argv[place], *flags) or argv[place]] if place else []
    names += [name for word in argv[1:] if (name := read_attached_value(word, *flags))]
    remote = call.name == "wget" or any(
        word[:1] == "-" and word[1:2] != "-" and "O" in word for word in argv[1:]
    )
    if not names and remote:
        names = [word.rpartition("/")[2] for word in argv[1:] if "/" in word]
    for name in names:
        if name not in ("", "-", "/dev/null"):
            walk.known.write_file(name, Content(opaque="download"), append=False)


HANDLERS: dict[str, Handler] = {
    **dict.fromkeys(
        ("export", "declare", "typeset", "local", "readonly"), follow_declare
    ),
    "alias": follow_alias,
    "hash": follow_hash,
    "unalias": follow_unalias,
    "set": follow_set,
    "read": follow_read,
    "unset": follow_unset,
    "cd": follow_cd,
    "pushd": follow_cd,
    "tee": follow_tee,
    "mkfifo": follow_pipe,
    "mknod": follow_pipe,
    "cp": follow_copy,
    "mv": follow_move,
    "ln": follow_link,
    "install": follow_copy,
    "curl": follow_download,
    "wget": follow_download,
}
