"""The state of a script while it is followed: variables, functions, files it writes.

Nothing is run. A value that the text itself does not give stays UNKNOWN.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import cast

from guidance.core.shell_commands.limits import MAX_VALUE, ReadingBudget
from guidance.core.shell_commands.origin import Origin
from guidance.core.shell_commands.shell.tree import (
    UNKNOWN,
    Assignment,
    Blank,
    Heredoc,
    Piece,
    Script,
    Simple,
    Substitution,
    Variable,
    Word,
)

# What these hold on any machine, near enough to judge paths by.
_USUAL = {
    "HOME": "~",
    "PWD": ".",
    "IFS": " ",
    "SHELL": "sh",
    "BASH": "bash",
    "TMPDIR": "/tmp",  # noqa: S108
    "TMP": "/tmp",  # noqa: S108
    "TEMP": "/tmp",  # noqa: S108
    "RUNNER_TEMP": "/tmp/runner",  # noqa: S108
    "$": "0",
    "!": "0",
    "?": "0",
    "#": "0",
    "RANDOM": "0",
    "SECONDS": "0",
    "UID": "0",
    "EUID": "0",
    "PPID": "0",
    "BASHPID": "0",
}
# Alternatives kept of one variable; with more of them nothing is known.
_ALTERNATIVES = 8
# Words of a command that are expanded without counting.
_FEW = 64

# Content that cannot be told, and the rule that says so.
OPAQUE = {
    "download": "opaque-download",
    "decoded": "opaque-decoded",
    "packed": "opaque-decoded",
    "stdin": "opaque-input",
}

Value = str | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Content:
    """A text that something reads: known, or opaque for a reason."""

    text: str = ""
    # "", or why it cannot be told: download, decoded, packed, stdin, file.
    opaque: str = ""
    # Where the text stands, if it stands anywhere as it is.
    origin: Origin | None = None


@dataclass(frozen=True, slots=True)
class Printed:
    """What a command prints, not yet asked for."""

    script: Script
    simple: Simple


@dataclass(slots=True)
class ScriptState:
    """`produce` tells what a script would print, `printed_by` what one command would."""

    produce: Callable[[ScriptState, Script], Content]
    printed_by: Callable[[ScriptState, Script, Simple], Content]
    budget: ReadingBudget
    variables: dict[str, list[Value]] = field(default_factory=dict)
    functions: dict[str, tuple[Script, int, int]] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    git_aliases: dict[str, str] = field(default_factory=dict)
    # What was written to a file, piece by piece; commands are only asked for what
    # they print once somebody runs the file.
    files: dict[str, list[Content | Printed]] = field(default_factory=dict)
    # Those of them that hold nothing but what this command has written.
    made: set[str] = field(default_factory=set)
    # Containers and their like that this command has made: where, what and its name.
    containers: set[tuple[str, ...]] = field(default_factory=set)
    # Those of PowerShell that hold a temporary path.
    temporary: frozenset[str] = frozenset()
    # Variables that PowerShell gives a value, which this shell does not.
    values: set[str] = field(default_factory=set)
    # Connections that the shell itself has opened, by their descriptors.
    connections: dict[str, str] = field(default_factory=dict)
    positional: tuple[str, ...] | None = None
    # A temporary folder that the commands of this && chain certainly run in, and how
    # many compound commands it was entered in.
    folder: str = ""
    # The script in which nothing runs any more once a command has failed.
    stopping: Script | None = None
    folder_frames: int = 0
    # It has gone where names are not those of the working folder any more.
    left: bool = False
    # Temporary paths that hold something that was moved there, or lead out of there.
    moved: list[str] = field(default_factory=list)
    linked: list[str] = field(default_factory=list)
    # Stages of a pipeline that are being followed back just now.
    chain: int = 0

    def has_defined(self, name: str) -> bool:
        """A function, an alias or a file of this command: what it does is what counts."""
        return name in self.functions or name in self.aliases or name in self.files

    def continues_chain(self, script: Script, simple: Simple) -> bool:
        """Does it run only if the commands before it have succeeded?"""
        if simple.joined in ("&&", "|", "|&"):
            return True
        return script is self.stopping and simple.joined not in ("||", "&")

    def assign(self, assignment: Assignment, *, branch: bool) -> None:
        value: Value
        given = assignment.value
        if isinstance(given, list):
            value = tuple(
                part
                for word in given
                for part in (
                    self.split_fields(word) if isinstance(word, Word) else [word]
                )
            )
        else:
            value = given if isinstance(given, str) else self.join(given.pieces)
        self.store(assignment.name, value, branch=branch, append=assignment.append)

    def store(
        self, name: str, value: Value, *, branch: bool = False, append: bool = False
    ) -> None:
        known = self.variables.get(name, [])
        if append and len(known) == 1:
            before = known[0]
            if isinstance(before, tuple):
                value = before + (value if isinstance(value, tuple) else (value,))
            elif isinstance(value, str):
                value = before + value
        if len(value) > MAX_VALUE:
            value = UNKNOWN
        self.variables[name] = [*known, value] if branch else [value]
        if len(self.variables[name]) > _ALTERNATIVES:
            self.variables[name] = [UNKNOWN]

    def list_alternatives(self, word: str | Word) -> list[Value]:
        """All that a word may be, if it is one variable and nothing else."""
        if isinstance(word, str):
            return []
        pieces = [piece for piece in word.pieces if piece != ""]
        if len(pieces) != 1 or not isinstance(pieces[0], Variable):
            return []
        variable = pieces[0]
        return [] if variable.operator else self.variables.get(variable.name, [])

    def read_argv(self, simple: Simple) -> list[str]:
        """The words of a command as its program would get them; not to be changed."""
        if simple.dynamic or len(simple.words) > _FEW:
            return self.build_argv(simple.words)
        return cast("list[str]", simple.words)

    def build_argv(self, words: list[str | Word]) -> list[str]:
        """The words as the program would get them."""
        if len(words) > _FEW:
            # Asked again and again for what a long command prints.
            self.budget.count_step(len(words) // 4)
        done: list[str] = []
        for word in words:
            if isinstance(word, str):
                done.append(word)
            elif len(word.pieces) == 1 and isinstance(word.pieces[0], Variable):
                self._expand_alone(word.pieces[0], done)
            else:
                done += self.split_fields(word)
        return done

    def _expand_alone(self, variable: Variable, done: list[str]) -> None:
        """A variable alone, which most words with one are."""
        value = self._expand_variable(variable)
        if not isinstance(value, str):
            done += value
        elif variable.quoted:
            done.append(value)
        else:
            done += self._split(value)

    def _split(self, value: str) -> list[str]:
        """At blanks, or at whatever IFS was set to."""
        for signs in self.variables.get("IFS", ()):
            for sign in signs if isinstance(signs, str) else ():
                value = value.replace(sign, " ")
        return value.split()

    def split_fields(self, word: Word) -> list[str]:
        """One word may become none or several: values are split at blanks."""
        if len(word.pieces) > _FEW:
            self.budget.count_step(len(word.pieces) // 4)
        done: list[str] = []
        current: list[str] = []
        begun = False
        for piece in word.pieces:
            if isinstance(piece, str):
                current.append(piece)
                begun = True
                continue
            value = self.expand(piece)
            parts: tuple[str, ...] | list[str]
            before = after = False
            if isinstance(value, tuple):
                parts = value
            elif isinstance(piece, Blank) or piece.quoted:
                parts = (value,)
            else:
                parts = self._split(value)
                before, after = value[:1].isspace(), value[-1:].isspace()
            for index, part in enumerate(parts):
                if begun and (index or before):
                    done.append("".join(current))
                    current = []
                current.append(part)
                begun = True
            if begun and (after or (before and not parts)):
                done.append("".join(current))
                current = []
                begun = False
        if begun:
            done.append("".join(current))
        return done

    def join(self, pieces: tuple[Piece, ...]) -> str:
        """Pieces as one text, as in an assignment, a heredoc or quotes."""
        parts: list[str] = []
        size = 0
        for piece in pieces:
            value = piece if isinstance(piece, str) else self.expand(piece)
            text = value if isinstance(value, str) else " ".join(value)
            parts.append(text)
            size += len(text)
            if size > MAX_VALUE:
                return UNKNOWN
        return "".join(parts)

    def expand_word(self, word: str | Word) -> str:
        return word if isinstance(word, str) else self.join(word.pieces)

    def expand(self, piece: Variable | Substitution | Blank) -> Value:
        if isinstance(piece, Variable):
            return self._expand_variable(piece)
        if isinstance(piece, Blank):
            return UNKNOWN
        content = self.produce(self, piece.script)
        if piece.process:
            path = f"/dev/fd/{len(self.files)}{UNKNOWN}"
            self.files[path] = [content]
            return path
        return UNKNOWN if content.opaque else content.text.rstrip("\n")

    def _expand_variable(self, variable: Variable) -> Value:
        name, operator = variable.name, variable.operator
        value: Value
        if operator in ("", ":-", "-", ":=", "=", ":?", "?"):
            value = self._get_named(name, variable.index)
            if value == "" and operator.startswith(":"):
                value = self.join(variable.argument)
            return value
        if operator in (":+", "+"):
            # Whether it is set is seldom known; what it would be, is.
            unset = operator == ":+" and self.variables.get(name) == [""]
            return "" if unset else self.join(variable.argument)
        return UNKNOWN

    def _get_named(self, name: str, index: str) -> Value:
        if name in ("@", "*"):
            return UNKNOWN if self.positional is None else self.positional
        if name.isdigit():
            place = int(name) - 1 if len(name) < 4 else -1
            if self.positional is None or place < 0:
                return UNKNOWN
            return self.positional[place] if place < len(self.positional) else ""
        known = self.variables.get(name)
        if known is None:
            return _USUAL.get(name, UNKNOWN)
        if len(known) != 1:
            return UNKNOWN
        value = known[0]
        # Expanding a long value again and again is reading it again and again.
        self.budget.read(len(value))
        if isinstance(value, str) or index in ("@", "*"):
            return value
        place = int(index) if index.isdigit() else 0
        return value[place] if place < len(value) else ""

    def expand_heredoc(self, heredoc: Heredoc, text: str) -> str:
        if heredoc.pieces:
            body = self.join(heredoc.pieces)
        else:
            body = text[heredoc.start : heredoc.end]
        if heredoc.strip:
            body = "\n".join(line.lstrip("\t") for line in body.split("\n"))
        return body

    def write_file(
        self, path: str, content: Content | Printed, *, append: bool
    ) -> None:
        """Remember what a file holds, for it may be run later."""
        path = path.removeprefix("./")
        if append and path in self.files:
            self.files[path].append(content)
        else:
            self.files[path] = [content]
            if not append:
                self.made.add(path)
        if "bin/" in path:
            # Found by its name from now on.
            self.files[path.rpartition("/")[2]] = self.files[path]

    def get_file(self, path: str) -> Content | None:
        """What this command has written to the file, None if it has not."""
        pieces = self.files.get(path.removeprefix("./"))
        if pieces is None:
            return None
        texts: list[str] = []
        for piece in pieces:
            if isinstance(piece, Printed):
                content = self.printed_by(self, piece.script, piece.simple)
            else:
                content = piece
            if content.opaque or len(pieces) == 1:
                return content
            texts.append(content.text)
            if sum(map(len, texts)) > MAX_VALUE or len(texts) > _ALTERNATIVES * 8:
                return Content(opaque="stdin")
        return Content("".join(texts))
