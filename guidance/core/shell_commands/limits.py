"""How much is read before a person has to look. Every cap counts, none asks a clock."""

from __future__ import annotations

# Longer commands are not read at all.
MAX_CHARACTERS = 131_072
# Characters read in one judgement, nested scripts and repeated evaluations included.
MAX_READ = 262_144
# What most commands are shorter than.
USUAL = 4_000
# Words and signs that the shell's reader takes one by one.
MAX_STEPS = 5_000
# Simple commands looked at, also those of a function at each of its calls. More than
# this is a program, and a program is for a person to read. Texts inside a command cost
# more than the command, for each of them is read with a reader of its own.
MAX_COMMANDS = 600
# Operators between commands, most of which are quickly passed over.
MAX_OPERATORS = 4_000
COST_OF_TEXT = 3
# Substitutions in substitutions, shells in shells, wrappers around wrappers.
MAX_DEPTH = 24
# Loops, branches and groups inside each other.
MAX_FRAMES = 64
# Arguments of one command, those that its words become included.
MAX_ARGUMENTS = 5_000
# Findings told; a person who has read these has read enough.
MAX_FINDINGS = 64
# Parts told, and words of all of them together.
MAX_PARTS = 256
MAX_TOKENS = 4_000
# The longest value remembered of a variable or of a file that the command writes.
MAX_VALUE = 65_536
# Words that one pair of braces may become.
MAX_BRACES = 1_000


class TooMuchError(Exception):
    """A cap was reached; what was found so far stands."""


class EnoughError(Exception):
    """As many findings or parts as are told; the rest is not looked at."""


class ReadingBudget:
    """Counts down while a command is read and judged, or all those of one call."""

    __slots__ = ("characters", "commands", "steps")

    def __init__(self, *, steps: int = MAX_STEPS) -> None:
        self.characters = MAX_READ
        self.commands = MAX_COMMANDS
        self.steps = steps

    @property
    def share(self) -> float:
        """How much of it is used, from 0 to 1."""
        left = min(
            self.characters / MAX_READ,
            self.commands / MAX_COMMANDS,
            self.steps / MAX_STEPS,
        )
        return min(1.0, 1.0 - left)

    @property
    def spent(self) -> bool:
        """A cap was reached, and nothing more will be read."""
        return self.characters < 0 or self.commands < 0 or self.steps < 0

    def read(self, characters: int) -> None:
        self.characters -= characters
        if self.characters < 0:
            raise TooMuchError("more text than is read in one go")

    def read_again(self, text: str) -> str:
        """A text that another reader looks through as well: a usual one is free."""
        self.read(max(0, len(text) - USUAL))
        return text

    def count_step(self, count: int = 1) -> None:
        self.steps -= count
        if self.steps < 0:
            raise TooMuchError(f"more than {MAX_STEPS:,} words and signs")

    def count_commands(self, count: int = 1) -> None:
        self.commands -= count
        if self.commands < 0:
            raise TooMuchError(f"more than {MAX_COMMANDS:,} commands")
