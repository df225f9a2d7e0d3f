"""One list of commands while it is read: what is open, and what each one reads from."""

from __future__ import annotations

from dataclasses import dataclass

from guidance.core.shell_commands.limits import (
    MAX_COMMANDS,
    MAX_FRAMES,
    MAX_OPERATORS,
    TooMuchError,
)
from guidance.core.shell_commands.shell.tree import (
    Assignment,
    Function,
    Item,
    Redirect,
    Simple,
    Word,
)

_BRANCHES = ("fi", "done", "esac")


@dataclass(slots=True)
class Frame:
    """A compound command that is not closed yet."""

    closer: str
    first: int
    stage: tuple[int, int] | None
    branch: bool
    function: Function | None = None
    # Inside `case`, before the parenthesis that ends a pattern.
    pattern: bool = False


class Level:
    __slots__ = (
        "branch",
        "closed",
        "frames",
        "items",
        "joined",
        "operators",
        "pending",
        "simple",
        "stage",
        "stage_first",
    )

    def __init__(self) -> None:
        self.items: list[Item] = []
        self.frames: list[Frame] = []
        self.simple: Simple | None = None
        self.joined = ""
        self.branch = False
        # What the next command reads from, and where the present stage began.
        self.stage: tuple[int, int] | None = None
        self.stage_first = 0
        # The items of a compound command just closed: redirections still follow.
        self.closed: tuple[int, int] | None = None
        self.operators = 0
        # A function's name, before its body.
        self.pending = ""

    def get_current(self) -> Simple | None:
        """The command being read; asked again after a keyword was dealt with."""
        return self.simple

    def begin(self, at: int, words: list[str | Word] | None = None) -> Simple:
        """A new simple command at this place."""
        joined = self.joined
        self.closed = None
        self.simple = simple = Simple(
            [] if words is None else words,
            at,
            joined,
            self.branch or joined == "&&" or joined == "||",
            self.stage,
            len(self.frames),
        )
        return simple

    def finish(self, end: int) -> None:
        simple = self.simple
        if simple is None:
            return
        items = self.items
        simple.end = end
        if self.pending:
            items.append(Function(self.pending, len(items) + 2))
            self.pending = ""
        items.append(simple)
        self.simple = None
        if len(items) > MAX_COMMANDS:
            raise TooMuchError(f"more than {MAX_COMMANDS:,} commands")

    def read_operator(self, operator: str, end: int) -> None:
        """The end of a command; `operator` stands before the next one."""
        simple = self.simple
        if simple is not None:
            if operator == "&":
                simple.background = True
            self.finish(end)
        self.operators += 1
        if self.operators > MAX_OPERATORS:
            raise TooMuchError(f"more than {MAX_OPERATORS:,} commands")
        self.closed = None
        self.joined = operator
        last = len(self.items)
        if operator == "|" or operator == "|&":
            self.stage = (self.stage_first, last)
        else:
            self.stage = self.frames[-1].stage if self.frames else None
        self.stage_first = last

    def open(self, closer: str) -> Frame:
        function = None
        if self.pending:
            function = Function(self.pending)
            self.pending = ""
            self.items.append(function)
        frame = Frame(closer, len(self.items), self.stage, self.branch, function)
        self.frames.append(frame)
        if len(self.frames) > MAX_FRAMES:
            raise TooMuchError(f"more than {MAX_FRAMES} commands inside each other")
        self.branch = self.branch or closer in _BRANCHES
        self.stage_first = len(self.items)
        self.closed = None
        self.joined = ""
        return frame

    def close(self, closer: str) -> bool:
        if not self.frames or self.frames[-1].closer != closer:
            return False
        frame = self.frames.pop()
        self.branch = frame.branch
        self.stage = frame.stage
        self.stage_first = frame.first
        self.closed = (frame.first, len(self.items))
        if frame.function is not None:
            frame.function.last = len(self.items)
        return True

    def leave_open(self) -> None:
        """At the end of the text: functions that were not closed end here."""
        for frame in self.frames:
            if frame.function is not None:
                frame.function.last = len(self.items)

    def assign(self, assignment: Assignment, at: int) -> Simple:
        simple = self.simple or self.begin(at)
        if isinstance(simple.assignments, list):
            simple.assignments.append(assignment)
        else:
            simple.assignments = [assignment]
        return simple

    def redirect(self, redirect: Redirect, at: int) -> None:
        if self.simple is None and self.closed is not None:
            for item in self.items[slice(*self.closed)]:
                if isinstance(item, Simple):
                    _add_redirect(item, redirect)
            return
        _add_redirect(self.simple or self.begin(at), redirect)


def _add_redirect(simple: Simple, redirect: Redirect) -> None:
    if isinstance(simple.redirects, list):
        simple.redirects.append(redirect)
    else:
        simple.redirects = [redirect]
