"""Interpreters: where their program stands on the command line."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from guidance.core.shell_commands.call import ProgramCall
from guidance.core.shell_commands.code.language import (
    APPLESCRIPT,
    AWK,
    JAVASCRIPT,
    LUA,
    PERL,
    PHP,
    PYTHON,
    RUBY,
    TCL,
    Language,
    R,
)
from guidance.core.shell_commands.code.other_languages import (
    ESCAPING,
    M4,
    OTHER,
    OTHER_INTERPRETERS,
)
from guidance.core.shell_commands.code.scan import Scan
from guidance.core.shell_commands.code.written_files import list_written_files
from guidance.core.shell_commands.program_options import (
    find_option_value,
    read_attached_value,
)
from guidance.core.shell_commands.script_state import OPAQUE, Content
from guidance.core.shell_commands.shell.tree import UNKNOWN
from guidance.core.shell_commands.walk import Handler, Walk


@dataclass(frozen=True, slots=True, kw_only=True)
class Interpreter:
    language: Language
    # Options whose value is a program.
    code: tuple[str, ...] = ("-e",)
    taking: tuple[str, ...] = ()
    # The option whose value is a module that takes over the arguments.
    module: str = ""
    # A program is the first operand, as with awk.
    first: bool = False
    # With one of these it only reads the program.
    checking: tuple[str, ...] = ()


INTERPRETERS: Mapping[str, Interpreter] = {
    "python": Interpreter(
        language=PYTHON, code=("-c",), taking=("-W", "-X", "-Q"), module="-m"
    ),
    "pdb": Interpreter(language=PYTHON, code=("-c",)),
    "ptpython": Interpreter(language=PYTHON, code=("-c",)),
    "ipython": Interpreter(language=PYTHON, code=("-c",), module="-m"),
    "node": Interpreter(
        language=JAVASCRIPT,
        code=("-e", "--eval", "-p", "--print", "-pe"),
        taking=("-r", "--require", "--import", "--loader", "-C", "--conditions"),
        checking=("-c", "--check"),
    ),
    "bun": Interpreter(language=JAVASCRIPT, code=("-e", "--eval", "-p", "--print")),
    "deno": Interpreter(language=JAVASCRIPT, code=("eval",)),
    "zx": Interpreter(language=JAVASCRIPT, code=("-e", "--eval")),
    "tsx": Interpreter(language=JAVASCRIPT, code=("-e", "--eval")),
    "ts-node": Interpreter(language=JAVASCRIPT, code=("-e", "--eval")),
    "perl": Interpreter(language=PERL, code=("-e", "-E"), taking=("-I", "-M", "-x")),
    "ruby": Interpreter(
        language=RUBY, taking=("-I", "-r", "-C", "-E"), checking=("-c",)
    ),
    "irb": Interpreter(language=RUBY),
    "php": Interpreter(
        language=PHP,
        code=("-r", "--run", "-B", "-R", "-E"),
        taking=("-d", "-c", "-z", "-S", "-t", "-f"),
        checking=("-l", "--syntax-check"),
    ),
    "lua": Interpreter(language=LUA, taking=("-l",)),
    "luajit": Interpreter(language=LUA, taking=("-l",)),
    "awk": Interpreter(
        language=AWK, code=("-e", "--source"), taking=("-F", "-v", "-f"), first=True
    ),
    "rscript": Interpreter(language=R),
    "r": Interpreter(language=R, taking=("-f",)),
    "osascript": Interpreter(language=APPLESCRIPT, taking=("-l", "-s")),
    "tclsh": Interpreter(language=TCL, code=("-c",)),
    "expect": Interpreter(language=TCL, code=("-c",), taking=("-f",)),
    "m4": Interpreter(language=M4, code=()),
    "dc": Interpreter(language=ESCAPING, code=("-e", "--expression")),
    **{
        name: Interpreter(language=OTHER, code=flags)
        for name, flags in OTHER_INTERPRETERS.items()
    },
}


# They can edit files in place.
_EDITING = frozenset(("perl", "ruby", "awk"))


def interpret(walk: Walk, call: ProgramCall) -> None:
    kind = INTERPRETERS[call.name]
    argv = call.argv
    if call.name in _EDITING:
        walk.judge(call)
    index = 1
    if call.name in ("deno", "bun"):
        if argv[1:2] == ["rm"]:
            # Short for remove: its words are packages.
            return
        index = 2 if argv[1:2] == ["run"] else 1
    while index < len(argv):
        word = argv[index]
        if word[:1] != "-" and word not in kind.code:
            break
        if kind.module and word.startswith(kind.module) and word[2:].isidentifier():
            _run_module(walk, call, index, kind.module)
            return
        if word in kind.code or _is_bundled(word, kind.code, kind.taking):
            if index + 1 < len(argv):
                _scan_argument(walk, call, index + 1, kind.language)
            index += 2
            if not _is_repeated(argv, index, kind.code):
                return
            continue
        if kind.module and (word == kind.module or _is_bundled(word, (kind.module,))):
            walk.run_inner(call, index + 1, f"{call.name} {kind.module}")
            return
        if word in kind.checking:
            return
        text = _get_attached(word, kind.code)
        if text is not None:
            _report_code(walk, call, text, kind.language)
            return
        if word in ("-", "--"):
            index += 1
            break
        index += 2 if word in kind.taking else 1
    _scan_file(walk, call, index, kind)


def _run_module(walk: Walk, call: ProgramCall, index: int, flag: str) -> None:
    """`-mvenv`: the module is attached to its option."""
    argv = [*call.argv[:index], flag, call.argv[index][2:], *call.argv[index + 1 :]]
    walk.run_inner(
        call.replace_arguments(argv, first=-1), index + 1, f"{call.name} {flag}"
    )


def _scan_file(walk: Walk, call: ProgramCall, index: int, kind: Interpreter) -> None:
    argv = call.argv
    if kind.first:
        if index < len(argv) and "-f" not in argv:
            _scan_argument(walk, call, index, kind.language)
        return
    if index < len(argv) and argv[index - 1] != "-":
        content = walk.known.get_file(argv[index])
        if content is None:
            # A script that is known by its name, such as manage.py or artisan; a glob
            # or a variable stands for files that were there before.
            if "*" not in argv[index] and UNKNOWN not in argv[index]:
                walk.run_inner(call, index, call.name)
            return
    else:
        content = walk.find_stdin(call)
    if content is not None:
        scan_content(walk, call, content, kind.language)


def scan_content(
    walk: Walk, call: ProgramCall, content: Content, language: Language
) -> None:
    if content.opaque:
        rule = OPAQUE.get(content.opaque)
        if rule:
            walk.report.add_opaque(rule, call)
        return
    origin = content.origin or walk.report.make_whole_origin(call)
    Scan(walk, call, code=content.text, origin=origin, via=call.name).run(language)
    _remember_files(walk, call, content.text)


def _scan_argument(
    walk: Walk, call: ProgramCall, place: int, language: Language
) -> None:
    origin = walk.report.make_origin(call, place)
    code = call.argv[place]
    Scan(walk, call, code=code, origin=origin, via=call.name).run(language)
    if call.name == "ipython":
        Scan(walk, call, code=code, origin=origin, via=call.name).run(ESCAPING)
    _remember_files(walk, call, code)


def _remember_files(walk: Walk, call: ProgramCall, code: str) -> None:
    """What the program writes may be run by the commands after it."""
    if len(call.script.items) > 1:
        for path, text in list_written_files(code):
            walk.known.write_file(path, Content(text), append=False)


def _report_code(walk: Walk, call: ProgramCall, code: str, language: Language) -> None:
    Scan(
        walk, call, code=code, origin=walk.report.make_whole_origin(call), via=call.name
    ).run(language)


def _is_bundled(
    word: str, flags: tuple[str, ...], taking: tuple[str, ...] = ()
) -> bool:
    """`-ne` holds `-e`; the program is then the next word."""
    if word[:2] in taking:
        # The rest is the value of that option.
        return False
    if len(word) < 3 or word[0] != "-" or word[1] == "-" or not word[1:].isalnum():
        return False
    return any(len(flag) == 2 and word[-1] == flag[1] for flag in flags)


def _get_attached(word: str, flags: tuple[str, ...]) -> str | None:
    for flag in flags:
        if flag.startswith("--") and word.startswith((flag + "=", flag + ":")):
            return word[len(flag) + 1 :]
        if len(flag) == 2 and word.startswith(flag) and not word[1:].isalnum():
            return word[2:]
    return None


def _is_repeated(argv: list[str], index: int, flags: tuple[str, ...]) -> bool:
    return index < len(argv) and argv[index] in flags


def interpret_manage(walk: Walk, call: ProgramCall) -> None:
    """Django: a shell that takes Python, a database shell that takes SQL."""
    argv = call.argv
    place = find_option_value(
        [word for word in argv if word != "--"], "-c", "--command"
    )
    # What follows two dashes is the client's own.
    place += bool(place) and "--" in argv[:place]
    if "dbshell" in argv[1:3]:
        content = walk.find_stdin(call)
        if content is not None and content.opaque == "stdin":
            walk.report.add_opaque("opaque-sql", call)
        elif content is not None and not content.opaque:
            origin = content.origin or walk.report.make_whole_origin(call)
            walk.walk_sql(content.text, origin=origin, via=(*call.via, "dbshell"))
        if place:
            origin = walk.report.make_origin(call, place)
            walk.walk_sql(argv[place], origin=origin, via=(*call.via, "dbshell"))
    elif any(word.startswith("shell") for word in argv[1:3]):
        if place:
            _judge_in_production(walk, call, argv[place])
            _scan_argument(walk, call, place, PYTHON)
        else:
            content = walk.find_stdin(call)
            if content is not None:
                scan_content(walk, call, content, PYTHON)
    walk.judge(call)


# Many rows at once, be it with a condition.
_BULK = re.compile(
    r"\.(?:destroy_all|delete_all|update_all)\b|\.(?:filter|exclude)\([^\n]{0,200}\)\.delete\("
    r"|\([^\n]{0,200}\)->(?:delete|forceDelete|truncate)\("
)
_STAGE = re.compile(r"(?:[\w.]*[._-])?(?:prod|production|live)")


def _judge_in_production(walk: Walk, call: ProgramCall, code: str) -> None:
    """What a condition takes in production, a person looks at first."""
    if not _BULK.search(walk.budget.read_again(code)):
        return
    values = [each.value for each in call.simple.assignments]
    words = [
        word.rpartition("=")[2] for word in call.simple.words if isinstance(word, str)
    ]
    if any(
        isinstance(each, str) and _STAGE.fullmatch(each) for each in (*values, *words)
    ):
        walk.report.add("code-delete", call)


def interpret_rails(walk: Walk, call: ProgramCall) -> None:
    """rails runner and console: Ruby."""
    argv = call.argv
    if argv[1:2] in (["runner"], ["r"]) and len(argv) > 2:
        _judge_in_production(walk, call, argv[-1])
        _scan_argument(walk, call, len(argv) - 1, RUBY)
        content = walk.find_stdin(call) if call.simple.redirects else None
        if content is not None and not content.opaque:
            _judge_in_production(walk, call, content.text)
            scan_content(walk, call, content, RUBY)
    elif argv[1:2] in (["console"], ["c"]):
        content = walk.find_stdin(call)
        if content is not None:
            scan_content(walk, call, content, RUBY)
    walk.judge(call)


def interpret_tinker(walk: Walk, call: ProgramCall) -> None:
    """Laravel: PHP."""
    if call.argv[1:2] == ["tinker"]:
        for word in call.argv[2:]:
            text = read_attached_value(word, "--execute")
            if text is not None:
                _judge_in_production(walk, call, text)
                _report_code(walk, call, text, PHP)
    walk.judge(call)


HANDLERS: dict[str, Handler] = {
    **dict.fromkeys(INTERPRETERS, interpret),
    "manage.py": interpret_manage,
    "flask": interpret_manage,
    "rails": interpret_rails,
    "artisan": interpret_tinker,
}
