"""One call of a program: its name, its arguments and where they stand."""

from __future__ import annotations

from guidance.core.shell_commands.script_state import Content
from guidance.core.shell_commands.shell.tree import Script, Simple


class ProgramCall:
    """A name and arguments, wrappers off; what is rarely set is a default."""

    # Operands that come from elsewhere, as under xargs and find -exec: their paths if
    # known, None if not, an empty tuple if there are none.
    more: tuple[str, ...] | None = ()
    # What it reads, where a wrapper already knows; else the pipeline is asked.
    stdin: Content | None = None
    # How many programs were taken off around it.
    depth: int = 0

    def __init__(
        self,
        name: str,
        argv: list[str],
        script: Script,
        simple: Simple,
        via: tuple[str, ...],
        first: int = 0,
    ) -> None:
        self.name = name
        self.argv = argv
        self.script = script
        self.simple = simple
        # How it was reached, outermost first.
        self.via = via
        # The place of argv[0] among the words, -1 if they are not the same.
        self.first = first

    def replace_arguments(
        self, argv: list[str], *, first: int | None = None
    ) -> ProgramCall:
        """The same call with other arguments."""
        other = ProgramCall(
            self.name,
            argv,
            self.script,
            self.simple,
            self.via,
            self.first if first is None else first,
        )
        other.more, other.stdin, other.depth = self.more, self.stdin, self.depth
        return other
