"""Programs that run recipes: make, just, npm and their like.

Only what the command itself has written can be read, and of that only what is asked for:
a target `clean` beside `test` is not run by `make test`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile

from guidance.core.shell_commands.call import ProgramCall
from guidance.core.shell_commands.code.interpreters import scan_content
from guidance.core.shell_commands.code.other_languages import OTHER
from guidance.core.shell_commands.limits import MAX_VALUE, TooMuchError
from guidance.core.shell_commands.paths import is_own_file
from guidance.core.shell_commands.program_names import resolve_program
from guidance.core.shell_commands.program_options import (
    find_operands,
    find_option_value,
    read_attached_value,
)
from guidance.core.shell_commands.rules import PATTERNS
from guidance.core.shell_commands.rules.options import TAKING_VALUES
from guidance.core.shell_commands.script_state import Content
from guidance.core.shell_commands.shell.patterns import ASSIGNMENT
from guidance.core.shell_commands.walk import Handler, Walk
from guidance.core.shell_commands.word_lists import split_names

_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_JUSTFILES = ("justfile", "Justfile", ".justfile")
_TAKING = ("-f", "--file", "-C", "--directory", "-j", "-I", "-l", "-o", "-W", "--eval")
_TARGET = re.compile(r"([\w./%-][\w./% -]*?)[ \t]*::?(?!=)[ \t]*([^;\n]*)(?:;(.*))?")
_PREFIX = re.compile(r"[ \t]*[@+-]*[ \t]*")
_SHELL_FUNCTION = re.compile(r"\$[({](?:shell|system)[ \t]+([^)}\n]{0,500})[)}]")
# Variables of make that hold the program of a step.
_PROGRAMS = split_names(
    "CC CXX CPP LD AR AS RM CP MV INSTALL SHELL PYTHON NODE GO STRIP YACC LEX PERL MAKE"
)
# What they hold where a file does not say otherwise.
_USUAL = {
    "CC": "cc",
    "CXX": "c++",
    "CPP": "cc",
    "LD": "ld",
    "AR": "ar",
    "AS": "as",
    "RM": "rm -f",
    "MAKE": "make",
    "LEX": "lex",
    "YACC": "yacc",
    "INSTALL": "install",
}
_VARIABLE = re.compile(r"(?:export[ \t]+)?(\w+)[ \t]*(?::{1,3}|[?+])?=[ \t]*(.*)")
_USED = re.compile(r"\$[({](\w+)[)}]")
_MOST_TARGETS = 64
_MOST_FILLED = 16
_MOST_LINES = 2_000
_LONGEST_LINE = 1_000
_PRINTING = frozenset(("-n", "--dry-run", "--just-print", "--recon"))
# npm's verbs and the scripts they run.
_LIFECYCLE = {
    **dict.fromkeys(
        ("install", "i", "ci", "add"), ("preinstall", "install", "postinstall")
    ),
    **dict.fromkeys(("test", "t", "tst"), ("pretest", "test", "posttest")),
    "start": ("prestart", "start", "poststart"),
    "publish": ("prepublishOnly", "prepublish", "postpublish"),
    "pack": ("prepack", "prepare", "postpack"),
}
_BUILDING = ("build", "b", "run", "r", "test", "t", "check", "c", "install")
# `scripts.x=text`, `testenv.commands=text`, `target.x.runner="text"`.
_SETTING = re.compile(
    r"[\w.-]{0,80}?\b(?:scripts?|commands?|runner|alias)(?:\.[\w-]{1,40})?(?:=(.*))?",
    re.DOTALL,
)
_COMPILERS = split_names("gcc g++ cc c++ clang clang++ zig rustc crystal-run ldc2 dmd")
_TASK = re.compile(
    r"([ -]*)(?:ansible\.builtin\.)?(?:shell|command|raw|cmd)[ \t]*:[ \t]*([^\s{\[][^\n]*)"
)
_INLINE_TASK = re.compile(
    r"[{,][ \t]*(?:ansible\.builtin\.)?(?:shell|command|raw|cmd)[ \t]*:[ \t]*[\"']?([^\n,}\]\"']+)"
)
_TRYING = frozenset(("--check", "-C", "--syntax-check", "--list-tasks", "--list-hosts"))
_GENERATE = re.compile(r"^//go:generate[ \t]+(.*)$", re.MULTILINE)


def unwrap_make(walk: Walk, call: ProgramCall) -> None:
    argv = call.argv
    for word in argv[1:]:
        match = ASSIGNMENT.match(word)
        if match is not None:
            _run_variable(walk, call, match[1], word[match.end() :])
    place = find_option_value(argv, "--eval", "-E")
    if place:
        text = read_attached_value(argv[place], "--eval") or argv[place]
        _run_targets(walk, call, text, [])
    content = _find_recipes(walk, call, _MAKEFILES, ("-f", "--file", "--makefile"))
    if content is not None and not content.opaque and _PRINTING.isdisjoint(argv):
        wanted = [
            argv[place]
            for place in find_operands(argv, taking=_TAKING)
            if "=" not in argv[place]
        ]
        _run_targets(walk, call, content.text, wanted)
    walk.judge(call)


def _run_variable(walk: Walk, call: ProgramCall, name: str, value: str) -> None:
    texts = _SHELL_FUNCTION.findall(value)
    if name == "SHELL" and is_own_file(value) and walk.known.get_file(value) is None:
        # Every step is handed to it, and it may do anything with them.
        walk.report.add_opaque("opaque-preload", call)
    if name in _PROGRAMS:
        texts.append(value)
    for text in texts:
        origin = walk.report.make_whole_origin(call)
        walk.walk_shell(text, origin=origin, via=(*call.via, f"make {name}"))


def _find_recipes(
    walk: Walk, call: ProgramCall, names: tuple[str, ...], flags: tuple[str, ...]
) -> Content | None:
    """The rules that it reads, if this command has them."""
    argv = call.argv
    place = find_option_value(argv, *flags)
    if place:
        path = read_attached_value(argv[place], *flags) or argv[place]
        if path in ("-", "/dev/stdin"):
            return walk.find_stdin(call)
        return walk.known.get_file(path)
    if "-f-" in argv:
        return walk.find_stdin(call)
    for name in names:
        content = walk.known.get_file(name)
        if content is not None:
            return content
    return None


def _run_targets(walk: Walk, call: ProgramCall, text: str, wanted: list[str]) -> None:
    """The recipes of what is asked for and of what that needs; the first by default."""
    needs: dict[str, list[str]] = {}
    recipes: dict[str, list[str]] = {}
    current = ""
    loose: list[str] = _SHELL_FUNCTION.findall(text)
    values = dict(_USUAL)
    for line in _list_lines(text.replace("\\\n", " ")):
        if line[:1] in ("\t", " ") and current:
            recipes[current].append(_PREFIX.sub("", line, count=1))
            continue
        if len(line) > _LONGEST_LINE:
            raise TooMuchError(f"a line of more than {_LONGEST_LINE:,} characters")
        variable = _VARIABLE.match(line) if "=" in line else None
        if variable is not None:
            _store_value(values, variable[1], variable[2].strip())
            continue
        begun = _fill_in(walk, line, values) if ":" in line else ""
        match = _TARGET.match(begun) if begun else None
        if match is None or line[:1] in ("#", "\t", " "):
            continue
        for current in match[1].split():
            needs.setdefault(current, []).extend(match[2].split())
            recipes.setdefault(current, []).extend([match[3]] if match[3] else [])
    first = next((name for name in needs if not name.startswith(".")), "")
    todo = wanted or [first]
    done: set[str] = set()
    while todo:
        if len(done) == _MOST_TARGETS:
            raise TooMuchError(f"more than {_MOST_TARGETS} targets")
        name = todo.pop()
        if name in done:
            continue
        done.add(name)
        loose += recipes.get(name, [])
        todo += needs.get(name, [])
    for recipe in loose:
        walk.walk_shell(
            _fill_in(walk, recipe, values).replace("$$", "$"),
            origin=walk.report.make_whole_origin(call),
            via=(*call.via, f"{call.name} {' '.join(wanted)}".strip()),
        )


def _store_value(values: dict[str, str], name: str, value: str) -> None:
    """Store a value; what it held before stands in the place of its own name."""
    before = values.get(name, "")
    value = _USED.sub(lambda match: before if match[1] == name else match[0], value)
    if len(value) > MAX_VALUE:
        raise TooMuchError("a longer value than is kept")
    values[name] = value


def _fill_in(walk: Walk, recipe: str, values: Mapping[str, str]) -> str:
    """The recipe with the values of its variables; those may use others."""
    for _ in range(_MOST_FILLED):
        filled = _USED.sub(lambda match: values.get(match[1], match[0]), recipe)
        if filled == recipe:
            return recipe
        walk.budget.read(len(filled))
        recipe = filled
    raise TooMuchError("variables in variables of a recipe")


def _list_lines(text: str) -> list[str]:
    lines = text.splitlines()
    if len(lines) > _MOST_LINES:
        raise TooMuchError(f"more than {_MOST_LINES:,} lines of a recipe")
    return lines


def unwrap_just(walk: Walk, call: ProgramCall) -> None:
    """just: a command of its own after --command, or recipes."""
    argv = call.argv
    if "--command" in argv or "-c" in argv:
        place = argv.index("--command" if "--command" in argv else "-c")
        walk.run_inner(call, place + 1, "just --command")
        return
    content = _find_recipes(walk, call, _JUSTFILES, ("-f", "--justfile"))
    if content is not None and not content.opaque:
        wanted = [argv[place] for place in find_operands(argv, taking=("-f", "-d"))]
        _run_targets(walk, call, content.text, wanted[:1])


def run_package_scripts(walk: Walk, call: ProgramCall) -> None:
    """npm, yarn, pnpm and bun: scripts of a package.json that this command wrote."""
    places = find_operands(call.argv, taking=TAKING_VALUES["npm"])
    verb = call.argv[places[0]] if places else ""
    if verb == "pkg":
        run_settings(walk, call)
    elif verb in ("set-script", "ss") and len(places) == 3:
        walk.walk_argument(call, places[2], "npm set-script")
    content = walk.known.get_file("package.json")
    if content is None or content.opaque:
        return
    try:
        scripts = json.loads(content.text).get("scripts", {})
    except (ValueError, AttributeError, RecursionError):
        return
    words = [call.argv[place] for place in find_operands(call.argv)]
    verb = words[0] if words else ("install" if call.name == "yarn" else "")
    if verb in ("run", "run-script") and len(words) > 1:
        verb = words[1]
    names = _LIFECYCLE.get(verb, (f"pre{verb}", verb, f"post{verb}"))
    for name in names:
        text = scripts.get(name) if isinstance(scripts, dict) else None
        if isinstance(text, str):
            origin = walk.report.make_whole_origin(call)
            walk.walk_shell(text, origin=origin, via=(*call.via, f"script {name}"))


def run_settings(walk: Walk, call: ProgramCall) -> None:
    """Commands that a tool is told to remember, or to run instead of its own."""
    argv = call.argv
    for index, word in enumerate(argv[1:], 1):
        match = _SETTING.fullmatch(word)
        if match is None:
            continue
        text = (match[1] or "").strip("\"'![] ")
        if match[1] is None:
            text = argv[index + 1] if "." in word and index + 1 < len(argv) else ""
        # What an interpreter is given may be a script of the project's own.
        if text.strip() and resolve_program(text.split()[0]) in PATTERNS:
            origin = walk.report.make_whole_origin(call)
            walk.walk_shell(text, origin=origin, via=(*call.via, call.name))


def unwrap_configured(walk: Walk, call: ProgramCall) -> None:
    run_settings(walk, call)
    walk.judge(call)


def unwrap_build(walk: Walk, call: ProgramCall) -> None:
    """cmake and gradle: tools of its own, and scripts that this command wrote."""
    argv = call.argv
    if "-E" in argv[:-1]:
        place = argv.index("-E") + 1
        words = argv[place + 1 :]
        if argv[place] in ("remove_directory", "remove"):
            words = ["rm", "-rf" if argv[place] != "remove" else "-f", *words]
        else:
            words = argv[place:]
        changed = call.replace_arguments([call.name, *words], first=-1)
        walk.run_inner(changed, 1, f"{call.name} -E")
    if walk.known.files:
        for word in argv[1:]:
            _scan_program(walk, call, word)
    walk.judge(call)


def unwrap_go(walk: Walk, call: ProgramCall) -> None:
    """go generate: the commands that this command wrote into a file's comments."""
    if call.argv[1:2] == ["generate"]:
        for path in list(walk.known.files):
            content = walk.known.get_file(path) if path.endswith(".go") else None
            if content is not None:
                for text in _GENERATE.findall(content.text):
                    origin = walk.report.make_whole_origin(call)
                    walk.walk_shell(text, origin=origin, via=(*call.via, "go generate"))
    if call.argv[1:2] == ["run"]:
        if "-" in call.argv:
            unwrap_compiler(walk, call)
        for place in find_operands(call.argv, start=2):
            _scan_program(walk, call, call.argv[place])
    for flag in ("-exec", "-toolexec"):
        place = find_option_value(call.argv, flag)
        if place:
            value = read_attached_value(call.argv[place], flag)
            if value is None:
                walk.walk_argument(call, place, f"go {flag}")
    walk.judge(call)


def unwrap_compiler(walk: Walk, call: ProgramCall) -> None:
    """A program that comes from the input, or from a file of this command."""
    if "-" in call.argv:
        content = walk.find_stdin(call)
        if content is not None and not content.opaque:
            scan_content(walk, call, content, OTHER)
    if walk.known.files:
        for word in call.argv[1:]:
            _scan_program(walk, call, word)
    walk.judge(call)


def unwrap_cargo(walk: Walk, call: ProgramCall) -> None:
    """cargo: the program that is built and run before everything else."""
    if "--config" in call.argv:
        run_settings(walk, call)
    if call.argv[1:2] and call.argv[1] in _BUILDING:
        _scan_program(walk, call, "build.rs")
    elif call.argv[1:2] == ["watch"] and (place := find_option_value(call.argv, "-s")):
        walk.walk_argument(call, place, "cargo watch")
    walk.judge(call)


def unwrap_playbook(walk: Walk, call: ProgramCall) -> None:
    """ansible-playbook: the commands of a playbook that this command wrote."""
    argv = call.argv
    if walk.known.files and _TRYING.isdisjoint(argv):
        for place in find_operands(argv, taking=("-i", "-e", "-l", "-t", "-u")):
            content = walk.known.get_file(argv[place])
            for text in _list_tasks(content.text) if content is not None else ():
                origin = walk.report.make_whole_origin(call)
                walk.walk_shell(text, origin=origin, via=(*call.via, argv[place]))
    walk.judge(call)


def _list_tasks(text: str) -> Iterator[str]:
    """The commands of tasks, on their own line or on the lines below it."""
    lines = _list_lines(text)
    for number, line in enumerate(lines):
        if len(line) > _LONGEST_LINE:
            raise TooMuchError(f"a line of more than {_LONGEST_LINE:,} characters")
        match = _TASK.match(line)
        if match is None:
            yield from _INLINE_TASK.findall(line)
            continue
        if match[2][:1] not in ("|", ">"):
            yield match[2].strip("\"' ")
            continue
        yield "\n".join(_list_indented(lines[number + 1 :], depth=len(match[1]) + 1))


def _list_indented(lines: Sequence[str], *, depth: int) -> Iterator[str]:
    return takewhile(lambda line: not line[:depth].strip(), lines)


def _scan_program(walk: Walk, call: ProgramCall, path: str) -> None:
    content = walk.known.get_file(path)
    if content is not None:
        scan_content(walk, call, content, OTHER)


HANDLERS: dict[str, Handler] = {
    **dict.fromkeys(_COMPILERS, unwrap_compiler),
    **dict.fromkeys(("tox", "composer"), unwrap_configured),
    **dict.fromkeys(("cmake", "gradle", "gradlew"), unwrap_build),
    "ansible-playbook": unwrap_playbook,
    "cargo": unwrap_cargo,
    "make": unwrap_make,
    "gmake": unwrap_make,
    "just": unwrap_just,
    "go": unwrap_go,
}
