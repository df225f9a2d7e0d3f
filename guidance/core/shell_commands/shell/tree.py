"""What a script is made of. Not frozen: the reader fills these as it goes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from guidance.core.shell_commands.origin import Origin

# Stands in a value for whatever is only known when the command runs.
UNKNOWN = "\0"


@dataclass(slots=True)
class Variable:
    """`$name` or `${name operator argument}`; `quoted` ones are not split."""

    name: str
    quoted: bool
    operator: str = ""
    argument: tuple[Piece, ...] = ()
    # The subscript of an array element, as written.
    index: str = ""


@dataclass(slots=True)
class Substitution:
    """`$(script)`, backticks, or with `process` `<(script)`."""

    script: Script
    quoted: bool
    process: bool = False


@dataclass(slots=True)
class Blank:
    """Something computed, such as arithmetic: text that cannot be known."""


Piece = str | Variable | Substitution | Blank


@dataclass(slots=True, eq=False)
class Word:
    """A word whose value depends on something; words that do not are plain `str`."""

    pieces: tuple[Piece, ...]


@dataclass(slots=True)
class Heredoc:
    """The text between the delimiters; `pieces` are set where it is expanded."""

    delimiter: str
    strip: bool
    expands: bool
    start: int = 0
    end: int = 0
    pieces: tuple[Piece, ...] = ()


@dataclass(slots=True)
class Redirect:
    operator: str
    target: str | Word | Heredoc
    descriptor: str = ""


@dataclass(slots=True)
class Assignment:
    name: str
    value: str | Word | list[str | Word]
    append: bool = False


class Simple:
    """A simple command.

    Thousands of them are made, so what is rarely set stands in the class as a default.
    """

    # Set where anything but plain words stands in it.
    dynamic: bool = False
    # "for" and "case" heads, "test" for [[ ]]: no commands, yet they hold words.
    role: str = ""
    background: bool = False
    assignments: Sequence[Assignment] = ()
    redirects: Sequence[Redirect] = ()
    # What it builds, where its words are plain and somebody has asked for it.
    output: frozenset[str] | None = None

    def __init__(
        self,
        words: list[str | Word],
        start: int,
        joined: str = "",
        branch: bool = False,
        stage: tuple[int, int] | None = None,
        frames: int = 0,
    ) -> None:
        self.words = words
        # Blanks before and after it may be included.
        self.start = start
        self.end = start
        # The operator before it.
        self.joined = joined
        # It may or may not run: in a loop, a branch, after && or ||.
        self.branch = branch
        # The items of its script that it reads from.
        self.stage = stage
        # How many compound commands are open around it.
        self.frames = frames


@dataclass(slots=True)
class Function:
    """A definition; its body are the items from after it up to `last`."""

    name: str
    last: int = 0


Item = Simple | Function


@dataclass(slots=True)
class Script:
    """Simple commands in the order of the text, and what could not be understood."""

    text: str
    origin: Origin
    items: list[Item]
    trouble: str = ""
    # The trouble was such that the rest could not be read.
    unread: bool = False
    # Why the reader stopped before the end.
    too_much: str = ""
    # Where the here-documents of its text stand.
    bodies: Sequence[tuple[int, int]] = ()
    # Its simple commands with those that do not matter, once somebody has asked for them.
    whole: list[Simple] | None = None
    # Why those are not all.
    whole_cut: str = ""
    # What the first so many of those have made, where somebody has asked for it.
    made: dict[int, frozenset[str]] = field(default_factory=dict)
