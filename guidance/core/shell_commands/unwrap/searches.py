"""Programs that run a command for each of many things: find, fd, xargs, parallel."""

from __future__ import annotations

import re
from itertools import pairwise

from guidance.core.shell_commands.call import ProgramCall
from guidance.core.shell_commands.disposable.made_again import list_made_again
from guidance.core.shell_commands.disposable.searched_names import finds_only_disposable
from guidance.core.shell_commands.limits import COST_OF_TEXT
from guidance.core.shell_commands.paths import is_temporary_root
from guidance.core.shell_commands.program_names import resolve_program
from guidance.core.shell_commands.program_options import (
    find_operands,
    read_attached_value,
)
from guidance.core.shell_commands.script_state import Content
from guidance.core.shell_commands.shell.tree import UNKNOWN, Simple
from guidance.core.shell_commands.walk import Handler, Walk
from guidance.core.shell_commands.word_lists import RUN_BY_OTHERS, split_names

_REMOVING = ("rm", "rmdir", "unlink", "rimraf")
_EXECUTING = ("-exec", "-execdir", "-ok", "-okdir")
_XARGS_TAKING = split_names(
    "-I -n -P -L -s -d -a -E -R -S -J --max-args --max-procs --max-chars --delimiter "
    "--arg-file --process-slot-var"
)
_PARALLEL_TAKING = split_names(
    "-j --jobs -a --arg-file -I --colsep -C -d --delimiter -N -n -L --max-args --joblog "
    "--results --timeout --delay --retries -S --sshlogin --tmpdir --halt --memfree"
)


# Columns of parallel's input, whatever it was told to cut at.
_SEPARATORS = re.compile(r"[,;:| \t]+")
# They hand on some of the lines they read, unless they are told otherwise.
_FILTERS = {
    "grep": frozenset(("-o", "--only-matching", "-r", "-R")),
    "sort": frozenset(("-m",)),
    "uniq": frozenset(("-c",)),
    "head": frozenset[str](),
    "tail": frozenset[str](),
    "tee": frozenset[str](),
}
_MOST_FILTERS = 6
_FD_TAKING = ("-t", "--type", "-d", "--max-depth", "-E", "--exclude", "-e", "-j")
# What they are given is what they delete.
_DELETERS = frozenset(("rm", "rmdir", "unlink", "shred"))


def unwrap_find(walk: Walk, call: ProgramCall) -> None:
    argv = call.argv
    walk.judge(call)
    places = _list_places(argv)
    if frozenset(_EXECUTING).isdisjoint(argv):
        return
    again = list_made_again(call.script, call.simple, walk.known)
    disposable = finds_only_disposable(argv, walk.disposable | again)
    index = 1
    while index < len(argv):
        if argv[index] in _EXECUTING:
            end = index + 1
            while end < len(argv) and argv[end] not in (";", "+"):
                end += 1
            if disposable and _removes_found(argv[index + 1 : end]):
                index = end
                continue
            # What {} stands for lies below the places that are searched.
            inner = [places[0] if word == "{}" else word for word in argv[index:end]]
            changed = call.replace_arguments([*argv[:index], *inner])
            walk.run_inner(changed, index + 1, "find -exec", more=places)
            index = end
        index += 1


def _removes_found(words: list[str]) -> bool:
    """rm of what was found and of nothing else."""
    rest = [word for word in words[1:] if word[:1] != "-"]
    return resolve_program(words[0] if words else "") in _REMOVING and rest == ["{}"]


def _list_places(argv: list[str]) -> tuple[str, ...]:
    """The folders that find begins in; of temporary ones what it finds by a name."""
    places: list[str] = []
    named = any(
        word in ("-name", "-iname") and after[:1] not in "*?["
        for word, after in pairwise(argv)
    )
    for word in argv[1:]:
        if word[:1] in ("-", "(", "!") and word not in ("-L", "-P", "-H"):
            break
        if named and is_temporary_root(word):
            places.append(f"{word.rstrip('/')}/found")
        elif word[:1] != "-":
            places.append(word)
    return tuple(places) or (".",)


def unwrap_fd(walk: Walk, call: ProgramCall) -> None:
    """fd -x and -X."""
    walk.judge(call)
    for flag in ("-x", "-X", "--exec", "--exec-batch"):
        if flag in call.argv:
            place = call.argv.index(flag)
            if _removes_made_by_tools(walk, call.argv[:place], call.argv[place + 1 :]):
                return
            walk.run_inner(call, call.argv.index(flag) + 1, f"fd {flag}", more=None)
            return


def _removes_made_by_tools(walk: Walk, options: list[str], run: list[str]) -> bool:
    """`fd -t d node_modules -x rm -rf {}`, below the working folder."""
    if not _removes_found(run if "{}" in run else [*run, "{}"]):
        return False
    names = [options[place] for place in find_operands(options, taking=_FD_TAKING)]
    return len(names) == 1 and names[0].strip("^$") in walk.disposable


def unwrap_xargs(walk: Walk, call: ProgramCall) -> None:
    """xargs: the operands come from its input."""
    searched = _get_search(walk, call)
    found = _list_places(searched) if searched else None
    for place in find_operands(call.argv, taking=_XARGS_TAKING):
        if searched and _removes_found([*call.argv[place:], "{}"]):
            again = list_made_again(call.script, call.simple, walk.known)
            if finds_only_disposable(searched, walk.disposable | again):
                return
        sign = _find_replacement(call.argv[:place])
        if sign:
            value = found[0] if found else UNKNOWN
            argv = [
                word.replace(sign, value) if index >= place else word
                for index, word in enumerate(call.argv)
            ]
            call = call.replace_arguments(argv)
        walk.run_inner(call, place, "xargs", more=found)
        if not sign and resolve_program(call.argv[place]) in RUN_BY_OTHERS - _DELETERS:
            _run_with_input(walk, call, place)
        return


def _run_with_input(walk: Walk, call: ProgramCall, place: int) -> None:
    """The verb, or the whole command, may come from the input."""
    content = walk.find_stdin(call)
    if content is not None and not content.opaque:
        walk.budget.count_commands(COST_OF_TEXT)
        words = content.text.split()
        changed = call.replace_arguments([*call.argv, *words], first=-1)
        walk.run_inner(changed, place, "xargs")


def _find_replacement(options: list[str]) -> str:
    """What stands for the input, if xargs was told to put it into the command."""
    for index, word in enumerate(options):
        if word in ("-I", "-J") and index + 1 < len(options):
            return options[index + 1]
        if word in ("-i", "--replace"):
            return "{}"
        value = read_attached_value(word, "-I", "--replace", "-i")
        if value:
            return value
    return ""


def _get_search(walk: Walk, call: ProgramCall) -> list[str]:
    """The find before it, if that is what it reads."""
    simple = call.simple
    for _ in range(_MOST_FILTERS):
        stage = simple.stage
        if stage is None or stage[1] - stage[0] != 1:
            return []
        item = call.script.items[stage[0]]
        if not isinstance(item, Simple) or not item.words or item.redirects:
            return []
        argv = walk.known.build_argv(item.words)
        name = resolve_program(argv[0]) if argv else ""
        if name == "find":
            return argv
        if name not in _FILTERS or not _FILTERS[name].isdisjoint(argv):
            return []
        simple = item
    return []


def unwrap_parallel(walk: Walk, call: ProgramCall) -> None:
    argv = call.argv
    given = [":::", "::::", ":::+"]
    for place in find_operands(argv, taking=_PARALLEL_TAKING):
        if argv[place] == "::::":
            # Nor any argument: every line of a file is a command.
            _run_lines(walk, call, walk.known.get_file(argv[-1]))
            return
        if argv[place] in given:
            # No command: every argument is one.
            for index in range(place + 1, len(argv)):
                walk.walk_argument(call, index, "parallel")
            return
        ends = [argv.index(sign) for sign in given if sign in argv]
        last = min(ends) if ends else len(argv)
        values = tuple(argv[last + 1 :]) or None
        if argv[place].startswith("{") or UNKNOWN in argv[place]:
            _run_composed(walk, call, " ".join(argv[place:last]), values)
            return
        if last - place == 1:
            walk.walk_argument(call, place, "parallel")
            if " " not in argv[place]:
                walk.run_inner(call, place, "parallel", last=last, more=values)
        else:
            walk.run_inner(call, place, "parallel", last=last, more=values)
        return
    content = walk.find_stdin(call)
    if content is not None:
        _run_lines(walk, call, content)


def _run_lines(walk: Walk, call: ProgramCall, content: Content | None) -> None:
    """Commands from a file: not a script that somebody wrote to be run, but a list that
    something has made."""
    if content is None or content.opaque == "file":
        walk.report.add_opaque("opaque-input", call)
    else:
        walk.walk_content(content, call, "parallel")


def _run_composed(
    walk: Walk, call: ProgramCall, text: str, values: tuple[str, ...] | None
) -> None:
    """The program itself comes from the input: put each value in its place."""
    if values is None:
        content = walk.find_stdin(call)
        values = tuple(content.text.splitlines()) if content else ()
        if not values:
            walk.report.add_opaque("opaque-name", call)
    for value in values:
        parts = _SEPARATORS.split(value)
        composed = text.replace("{}", value)
        for number, part in enumerate(parts, 1):
            composed = composed.replace(f"{{{number}}}", part)
        origin = walk.report.make_whole_origin(call)
        walk.walk_shell(composed, origin=origin, via=(*call.via, "parallel"))


HANDLERS: dict[str, Handler] = {
    "find": unwrap_find,
    "fd": unwrap_fd,
    "fdfind": unwrap_fd,
    "xargs": unwrap_xargs,
    "parallel": unwrap_parallel,
    "rush": unwrap_parallel,
}
