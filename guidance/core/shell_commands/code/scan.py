"""Scan a program for removals, shells, programs and queries."""

from __future__ import annotations

import re
from collections.abc import Collection

from guidance.core.regex import encode_one_byte
from guidance.core.shell_commands.call import ProgramCall
from guidance.core.shell_commands.code.folding import fold_names
from guidance.core.shell_commands.code.guarded import is_below, list_off
from guidance.core.shell_commands.code.language import (
    FOLDING,
    OPENING,
    PYTHON,
    TELLING,
    Language,
)
from guidance.core.shell_commands.code.literals import (
    find_end,
    read_adjacent,
    read_first_argument,
    read_words,
)
from guidance.core.shell_commands.code.named_commands import (
    Command,
    find_name,
    list_named_commands,
)
from guidance.core.shell_commands.code.purges import list_sweeps
from guidance.core.shell_commands.code.requests import list_deletions
from guidance.core.shell_commands.code.temporary_names import TemporaryNames
from guidance.core.shell_commands.limits import COST_OF_TEXT, TooMuchError
from guidance.core.shell_commands.origin import Origin
from guidance.core.shell_commands.paths import is_disposable, is_temporary
from guidance.core.shell_commands.program_names import resolve_program
from guidance.core.shell_commands.shell.quoting import decode_ansi
from guidance.core.shell_commands.shell.tree import UNKNOWN
from guidance.core.shell_commands.sql.databases import (
    ANY_DATABASE,
    describe_named_databases,
)
from guidance.core.shell_commands.walk import Walk

_SEVERAL = re.compile(
    r"(?:exec|spawn)[lv]|posix_spawn|_exec\b|Open3|\bspawn|system|exec|\.cmd|Process|::new|\.Command"
)
_EVALUATING = re.compile(r"\b(?:eval|exec)\s*\(\s*\Z")
# Modules that delete files or run programs.
_ACTING = frozenset(("os", "shutil", "subprocess", "pty", "builtins", "posix", "nt"))
# A file of the project is run as `python file.py` would.
_RUNS_FILE = re.compile(
    r"exec\(\s*(?:compile\(\s*)?open\(\s*[\"'](?:\./)?[\w-]+(?:/[\w-]+)*\.py[\"']\s*\)"
    r"\.read\("
)
# A cloud on one's own machine, such as tests use.
_EMULATED = re.compile(
    r"(?:endpoint(?:_url)?|base_url)\s*[=:]\s*[\"']https?://(?:localhost|127\.)|\bmock_aws\b"
)
_STATEMENT = re.compile(r"\s*(?:delete|truncate|drop|update|alter)\s", re.IGNORECASE)
_FILLED = re.compile(r"\$\{[^{}]*\}")
# What ruby puts into a text; to a shell it would be a comment.
_INSERTED = re.compile(r"#\{[^{}]*\}?")
# A list from which something else is made.
_COMPUTED = re.compile(r"\s*\[[^\[\]\n]{0,400}\]\s*\.\s*(?:pack|join|map|reverse)\b")
# What a method is called on: a name, or something in parentheses.
_OWNER = re.compile(r"\(([^()\n]{1,200})\)\Z|(?:self\.|this\.)?[A-Za-z_$][\w$]*\Z")
_MODULES = frozenset(
    ("fs", "fsp", "promises", "fse", "os", "shutil", "File", "FileUtils")
)
_PATH_BEFORE = re.compile(r"Path\(\s*[rRuU]?[\"']([^\"']*)[\"']\s*\)\Z")
# Telling places, and how far around them is looked.
_MOST_PLACES = 400
_BEFORE, _AFTER = 80, 80
# So many characters, each tried by all patterns, cost as much as a word of a command.
_TRIED_AT_ONCE = 8


class Scan:
    """One program, and everything that is found in it."""

    def __init__(
        self, walk: Walk, call: ProgramCall, *, code: str, origin: Origin, via: str
    ) -> None:
        self.walk = walk
        self.call = call
        self.code = code
        self.origin = origin
        self.via = (*call.via, via)
        self.spaced = False
        self._names: TemporaryNames | None = None
        self._off: frozenset[str] | None = None
        # Names of commands that were judged already.
        self._judged: dict[str, list[Command] | None] = {}

    def run(self, language: Language) -> None:
        signs = language.signs.match(encode_one_byte(self.code))
        folded = fold_names(self.code) if FOLDING in signs else self.code
        self._look(language, signs)
        if folded is not self.code:
            # Places are no longer those of the text that was given.
            origin = Origin(place=(0, len(self.code)), outer=self.origin)
            self.code, self.origin = folded, origin
            self._names = self._off = None
            self._look(language, language.signs.match(encode_one_byte(folded)))

    def _look(self, language: Language, signs: Collection[int]) -> None:
        code = self.code
        self.spaced = language.spaced
        if UNKNOWN in code and code.strip(UNKNOWN + " \n") == "":
            self._say("opaque-code", 0, len(code), opaque=True)
            return
        for span in list_deletions(code):
            self._say("http-delete", *span)
        if TELLING not in signs and OPENING not in signs:
            return
        windows = _find_windows(code, language.telling) if TELLING in signs else []
        openings = _find_windows(code, language.opening) if OPENING in signs else []
        self.walk.budget.read(len(code))
        self.walk.budget.count_commands(COST_OF_TEXT)
        tried = sum(end - start for start, end in windows + openings)
        self.walk.budget.count_step(tried // _TRIED_AT_ONCE)
        if not windows:
            # It only opens files, as most programs do (bench: "a program read").
            for match in _find_each(language.empties, code, openings):
                self._emptying(match)
            for span in list_sweeps(code) if language is PYTHON else ():
                self._say("code-delete", *span)
            return
        around = openings if language.opening else windows
        masked = code
        if language.masked is not None:
            masked = language.masked.sub(lambda match: " " * len(match[0]), code)
        for match in _find_each(language.removes, masked, windows):
            self._removal(match)
        for match in _find_each(language.runs, masked, windows):
            self._running(match)
        for match in _find_each(language.quotes, code, windows):
            text = match.group(match.lastindex or 0)
            self._shell(_INSERTED.sub(UNKNOWN, text), *match.span())
        for match in _find_each(language.scripts, code, windows):
            self._shell(decode_ansi(match[1]), *match.span())
        for match in _find_each(language.empties, code, around):
            self._emptying(match)
        for match in _find_each(language.dynamic, masked, windows):
            self._judge_evaluation(match, language)
        purges = _find_each(language.purges, masked, windows)
        if purges and _EMULATED.search(code) is None:
            for match in purges:
                self._say("code-delete", *match.span())
        if language is PYTHON and _EMULATED.search(code) is None:
            for span in list_sweeps(code):
                self._say("code-delete", *span)
        for match in _find_each(language.statements, code, windows):
            if _STATEMENT.match(match[1]):
                place = self._place(*match.span())
                self.walk.walk_sql(
                    _FILLED.sub("?", match[1]), origin=place, via=self.via
                )
        for match in _find_each(language.forks, masked, windows):
            self._say("fork-bomb", *match.span())
        queries = _find_each(language.queries, masked, windows)
        database = describe_named_databases(code) if queries else ANY_DATABASE
        for match in queries:
            text = read_first_argument(code, match.end())
            if text and text.endswith(UNKNOWN) and text[:-1].strip().isalpha():
                # Not even the first word is written out.
                if database.in_memory:
                    continue
                self._say("opaque-sql", *match.span(), opaque=True)
            elif text:
                place = self._place(*match.span())
                self.walk.walk_sql(text, origin=place, via=self.via, database=database)

    def _judge_evaluation(self, match: re.Match[str], language: Language) -> None:
        """A text that is run as code: read where it is written out, opaque elsewhere."""
        text = read_first_argument(self.code, match.end())
        if _imports_own(match[0], text) or _RUNS_FILE.match(self.code, match.start()):
            return
        if text is None or UNKNOWN in text or not _EVALUATING.search(match[0]):
            self._say("opaque-code", *match.span(), opaque=True)
            return
        self.walk.enter(text)
        place = self._place(*match.span())
        Scan(self.walk, self.call, code=text, origin=place, via=self.via[-1]).run(
            language
        )
        self.walk.leave()

    def _removal(self, match: re.Match[str]) -> None:
        path = read_first_argument(self.code, match.end())
        path = self._find_path_before(match) if path is None else path
        if path is None:
            lost = not self._is_temporary(match)
        else:
            lost = not is_temporary(path, folder=self.walk.known.folder)
            lost = lost and not is_disposable(path, self.walk.disposable)
        if lost and not self._is_off(match.start()):
            self._say("code-delete", match.start(), match.end())

    def _is_off(self, place: int) -> bool:
        """It happens only with a flag that the call does not give."""
        if self._off is None:
            self.walk.budget.read(len(self.code))
            self._off = list_off(self.code, self.call.argv)
        return bool(self._off) and is_below(self.code, place, self._off)

    def _is_temporary(self, match: re.Match[str]) -> bool:
        """By what the name was given, of an argument or of what the method belongs to."""
        if self._names is None:
            self.walk.budget.read(len(self.code))
            self._names = TemporaryNames(self.code, self.walk.disposable)
        if match[0].startswith("."):
            owner = _OWNER.search(self.code[: match.start()][-300:])
            if owner is not None and owner[0] not in _MODULES:
                return self._names.is_temporary(owner[1] or owner[0])
        end = find_end(self.code, match.end())
        return self._names.is_temporary(self.code[match.end() : end])

    def _find_path_before(self, match: re.Match[str]) -> str | None:
        before = _PATH_BEFORE.search(self.code[: match.start()][-300:])
        return before[1] if before else None

    def _emptying(self, match: re.Match[str]) -> None:
        named = match.groupdict()
        path = named.get("path") or named.get("path2") or self._find_path_before(match)
        if path is None or not is_temporary(path, folder=self.walk.known.folder):
            self._say("code-delete", match.start(), match.end())

    def _running(self, match: re.Match[str]) -> None:
        start, end = match.span()
        if _COMPUTED.match(self.code, end):
            self._say("opaque-code", start, end, opaque=True)
            return
        argv = read_words(self.code, end)
        if argv is None and self.spaced:
            argv = read_adjacent(self.code, end)
        if argv is None and _SEVERAL.search(match[0]):
            several = read_words(self.code, end, opened=True)
            argv = several if several and len(several) > 1 else None
            # os.execlp names the program twice.
            if argv and re.search(r"(?:exec|spawn)l", match[0]):
                argv = argv[1:]
        if argv:
            self._words(argv, start, end)
            return
        text = read_first_argument(self.code, end)
        if text is None:
            self._run_named(start, end)
            return
        if UNKNOWN in text:
            self._say("opaque-code", start, end, opaque=True)
        self._shell(text, start, end)

    def _run_named(self, start: int, end: int) -> None:
        """Whatever a name holds is judged where it is run first."""
        name = find_name(self.code, end) or ""
        known = name in self._judged
        if not known:
            commands = list_named_commands(self.code, name) if name else None
            self._judged[name] = commands
        if self._judged[name] is None:
            self._say("opaque-code", start, end, opaque=True)
        for command in () if known else self._judged[name] or ():
            if isinstance(command, str):
                self._shell(command, start, end)
            else:
                self._words(command, start, end)

    def _words(self, argv: list[str], start: int, end: int) -> None:
        if UNKNOWN in argv[0]:
            self._say("opaque-code", start, end, opaque=True)
            return
        inner = self.call.replace_arguments(argv, first=-1)
        inner.name = resolve_program(argv[0])
        inner.via = self.via
        inner.depth += 1
        self.walk.run(inner)

    def _shell(self, text: str, start: int, end: int) -> None:
        self.walk.walk_shell(text, origin=self._place(start, end), via=self.via)

    def _place(self, start: int, end: int) -> Origin:
        return Origin(place=(start, self._line(end)), outer=self.origin)

    def _line(self, end: int) -> int:
        """To the end of the line the call stands in: its arguments are shown, too."""
        newline = self.code.find("\n", end)
        stop = newline if newline >= 0 else len(self.code)
        return min(stop, end + 200)

    def _say(self, rule: str, start: int, end: int, *, opaque: bool = False) -> None:
        span = self.origin.get_span(start, self._line(end))
        self.walk.report.add_at(rule, span, via=self.via, uninspectable=opaque)


def _imports_own(call: str, module: str | None) -> bool:
    """A module that is named, and none of those that run or delete."""
    return (
        "import" in call
        and module is not None
        and UNKNOWN not in module
        and module.partition(".")[0] not in _ACTING
    )


def _find_windows(code: str, telling: tuple[str, ...]) -> list[tuple[int, int]]:
    """The places around telling pieces; patterns need not look anywhere else."""
    places: list[int] = []
    for piece in telling:
        at = code.find(piece)
        while at >= 0:
            places.append(at)
            if len(places) > _MOST_PLACES:
                raise TooMuchError(f"more than {_MOST_PLACES} places in a program")
            at = code.find(piece, at + len(piece))
    windows: list[tuple[int, int]] = []
    for at in sorted(places):
        if windows and at - _BEFORE <= windows[-1][1]:
            windows[-1] = (windows[-1][0], at + _AFTER)
        else:
            windows.append((max(0, at - _BEFORE), at + _AFTER))
    return windows


def _find_each(
    pattern: re.Pattern[str], text: str, windows: list[tuple[int, int]]
) -> list[re.Match[str]]:
    return [match for window in windows for match in pattern.finditer(text, *window)]
