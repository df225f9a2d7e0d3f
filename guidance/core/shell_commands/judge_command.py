"""Judge a command or SQL: read the text, follow it, and gather the findings."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache

from guidance.core.regex import PatternSet, combine_patterns, encode_one_byte
from guidance.core.shell_commands.call import ProgramCall
from guidance.core.shell_commands.characters import SUSPECT, find_deceiving
from guidance.core.shell_commands.code.language import (
    JAVASCRIPT,
    LUA,
    PERL,
    PHP,
    PYTHON,
    RUBY,
    Language,
    R,
)
from guidance.core.shell_commands.code.scan import Scan
from guidance.core.shell_commands.families.guard.texts import SIGNS as GUARD_SIGNS
from guidance.core.shell_commands.families.guard.texts import list_redefinitions
from guidance.core.shell_commands.families.inspect import inspect_redirections
from guidance.core.shell_commands.families.signs import SIGNS, strip_hiding
from guidance.core.shell_commands.findings import CommandFinding, Part
from guidance.core.shell_commands.judging.program import judge_program
from guidance.core.shell_commands.limits import (
    MAX_CHARACTERS,
    EnoughError,
    ReadingBudget,
    TooMuchError,
)
from guidance.core.shell_commands.origin import cut_origin, make_top_origin
from guidance.core.shell_commands.own_server import USUAL_SERVER, OwnServer
from guidance.core.shell_commands.paths import DISPOSABLE
from guidance.core.shell_commands.plain_commands import (
    LONGEST,
    PlainCommand,
    read_plain_command,
)
from guidance.core.shell_commands.program_table import (
    GUARD_HANDLERS,
    GUARD_MATTERS,
    HANDLERS,
    MATTERS,
    SENSITIVE_HANDLERS,
    SENSITIVE_MATTERS,
)
from guidance.core.shell_commands.report import Program, Report
from guidance.core.shell_commands.shell.cursor import Matters
from guidance.core.shell_commands.shell.tree import Script, Simple
from guidance.core.shell_commands.unwrap.loaded_files import run_loaded_files
from guidance.core.shell_commands.unwrap.redirections import judge_redirections
from guidance.core.shell_commands.unwrap.settings import follow_setting, is_run
from guidance.core.shell_commands.walk import Handler, Walk
from guidance.core.shell_commands.windows.powershell import list_temporary_variables
from guidance.core.shell_commands.windows.shells import (
    WINDOWS_SIGNS,
    look_for_arguments,
    look_for_windows,
)

# A text that is SQL from its first word on. Shell words such as set, exec and do are
# left out, and ambiguous ones must be followed by what SQL wants there.
_SQL = re.compile(
    r"\s*(?!\s)(?:(?:(?:--|#)[^\n]*\n|/\*[^*]*(?:\*(?!/)[^*]*)*\*/)\s*(?!\s))*"
    r"(?:(?:select|insert|update|delete|drop|truncate|alter|merge|explain|grant|revoke"
    r"|replace)\b|create\s+(?:or\s|table|temp|view|index|database|schema|function|user)"
    r"|with\s+[\w\"]+\s+as\b|begin\s*(?:;|transaction|work)|start\s+transaction"
    r"|use\s+\w+\s*;|do\s+\$\w*\$)",
    re.IGNORECASE,
)
# The languages of `judge_code`.
LANGUAGES: Mapping[str, Language] = {
    "javascript": JAVASCRIPT,
    "lua": LUA,
    "perl": PERL,
    "php": PHP,
    "python": PYTHON,
    "r": R,
    "ruby": RUBY,
}
# What a notebook hands to a shell: `!ls`, `files = !ls`, `%sx ls`, a `%%bash` cell.
_NOTEBOOK_SHELL = re.compile(
    r"^%%(?:bash|sh|script[ \t]+(?:ba|z)?sh)\b[^\n]*\n(?P<cell>(?s:.*))"
    r"|^[ \t]*(?:\w+[ \t]*=[ \t]*)?(?:!!?|%sx[ \t]|%system[ \t])(?P<line>[^\n=][^\n]*)",
    re.MULTILINE,
)
# What most texts do not have, told by reading them once.
_SIGNS = PatternSet(GUARD_SIGNS, SIGNS, combine_patterns(SUSPECT, WINDOWS_SIGNS))
_GUARD, _SENSITIVE, _ODD = range(3)


def judge_command(
    command: str,
    *,
    budget: ReadingBudget | None = None,
    disposable: frozenset[str] = frozenset(DISPOSABLE),
    server: OwnServer = USUAL_SERVER,
) -> tuple[CommandFinding, ...]:
    """What a person should know before this runs; nothing if it is harmless.

    Texts that are read for one answer may share a budget. `disposable` are names of
    folders that tools make again. `server` is the guard's own.
    """
    if budget is None and is_plain(command, server=server):
        return ()
    return _build_report(
        command,
        _walk_command,
        budget=budget,
        disposable=disposable,
        server=server,
    ).findings


def judge_sql(
    text: str, *, budget: ReadingBudget | None = None
) -> tuple[CommandFinding, ...]:
    """The same for a text that is known to be SQL."""
    return _build_report(text, _walk_sql, budget=budget).findings


def judge_code(
    text: str,
    *,
    language: str,
    budget: ReadingBudget | None = None,
    server: OwnServer = USUAL_SERVER,
) -> tuple[CommandFinding, ...]:
    """The same for a program in one of `LANGUAGES`, given to its interpreter as it is."""

    def walk_code(walk: Walk, code: str, odd: bool) -> None:
        _walk_code(walk, code, name=language)

    return _build_report(text, walk_code, budget=budget, server=server).findings


def split_command(command: str) -> tuple[Part, ...]:
    """The simple commands in it, in the order they are met."""
    return _build_report(command, _walk_command, collect=True).parts


def is_plain(command: str, *, server: OwnServer = USUAL_SERVER) -> bool:
    """Whether it is seen at a glance that there is nothing to say about it."""
    return (
        len(command) <= LONGEST
        and not server.may_be_meant(command)
        and _read_plain(command) is not None
    )


# Who judges a call and who asks what it tells of its run read the same text. All that is
# remembered stays within some hundred kilobytes.
@lru_cache(maxsize=128)
def _read_plain(command: str) -> PlainCommand | None:
    plain = read_plain_command(command)
    if plain is None or _SQL.match(command) or _find_signs(command):
        return None
    return plain


def list_programs(command: str) -> Sequence[Program]:
    """The same for those who seldom ask where they stand."""
    plain = _read_plain(command) if len(command) <= LONGEST else None
    if plain is not None and plain.programs is not None:
        return plain.programs
    return _build_report(command, _walk_command, collect=True).programs


def _build_report(
    text: str,
    read: Callable[[Walk, str, bool], None],
    *,
    collect: bool = False,
    budget: ReadingBudget | None = None,
    disposable: frozenset[str] = frozenset(),
    server: OwnServer = USUAL_SERVER,
) -> Report:
    report = Report(text, collect=collect)
    if len(text) > MAX_CHARACTERS:
        report.add_too_much()
        return report
    signs = _find_signs(text)
    if server.may_be_meant(text):
        signs = {*signs, _GUARD}
    handlers, matters = _choose_tables(signs)
    walk = Walk(
        report,
        ReadingBudget() if budget is None else budget,
        handlers=handlers,
        matters=matters,
        disposable=disposable,
        server=server,
        redirected=_judge_redirections,
        is_run=is_run,
        follow_setting=follow_setting,
        judge=judge_program,
    )
    if _GUARD in signs and read is _walk_command:
        for span in list_redefinitions(text):
            report.add_at("guard-settings", span)
    try:
        read(walk, text, _ODD in signs)
    except EnoughError:
        pass
    except (TooMuchError, RecursionError):
        # Trouble never lets through: what was found stands, the rest is for a person.
        report.add_too_much()
    return report


def _find_signs(text: str) -> Collection[int]:
    """Which of the signs stand in it, as it is written or as a shell reads it."""
    data = encode_one_byte(text)
    found = {*_SIGNS.match(data)}
    bare = strip_hiding(data)
    if len(bare) < len(data) and _GUARD not in found:
        found.update(sign for sign in _SIGNS.match(bare) if sign != _ODD)
    if not text.isascii():
        found.add(_ODD)
    return found


def _choose_tables(signs: Collection[int]) -> tuple[Mapping[str, Handler], Matters]:
    """How closely to look: most texts cannot name anything sensitive."""
    if _GUARD in signs:
        return GUARD_HANDLERS, GUARD_MATTERS
    if _SENSITIVE in signs:
        return SENSITIVE_HANDLERS, SENSITIVE_MATTERS
    return HANDLERS, MATTERS


def _judge_redirections(walk: Walk, call: ProgramCall) -> None:
    judge_redirections(walk, call)
    inspect_redirections(walk, call)


def _walk_command(walk: Walk, text: str, odd: bool) -> None:
    strange = find_deceiving(text) if odd else None
    if strange is not None:
        walk.report.add_at("opaque-characters", strange.span(), uninspectable=True)
        # What marks the unknown must not come from outside.
        text = text.replace("\0", "\ufffd")
    if odd:
        walk.known.temporary = list_temporary_variables(text)
    origin = make_top_origin(text)
    script = walk.walk_shell(text, origin=origin, via=())
    walk.finish()
    if walk.known.files:
        run_loaded_files(walk, script)
    if _SQL.match(text):
        walk.report.forget_broken()
        walk.walk_sql(text, origin=origin, via=())
    if odd:
        look_for_windows(walk, script)
    elif script.trouble:
        look_for_arguments(walk, script)


def _walk_code(walk: Walk, text: str, *, name: str) -> None:
    text = text.replace("\0", "\ufffd")
    origin = make_top_origin(text)
    simple = Simple([], 0)
    simple.end = len(text)
    call = ProgramCall(name, [], Script(text, origin, []), simple, (), first=-1)
    Scan(walk, call, code=text, origin=origin, via=name).run(LANGUAGES[name])
    if name == "python":
        for line in _NOTEBOOK_SHELL.finditer(text):
            place = line.span("cell" if line["cell"] is not None else "line")
            inner = cut_origin(origin, *place)
            walk.walk_shell(text[slice(*place)], origin=inner, via=(name,))
    walk.finish()


def _walk_sql(walk: Walk, text: str, odd: bool) -> None:
    text = text.replace("\0", "\ufffd")
    walk.walk_sql(text, origin=make_top_origin(text), via=())
