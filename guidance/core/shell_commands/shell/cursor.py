"""The place in the text that is being read, and what the reading needs to go on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from guidance.core.shell_commands.limits import MAX_DEPTH, ReadingBudget, TooMuchError
from guidance.core.shell_commands.origin import Origin
from guidance.core.shell_commands.shell.tree import Heredoc, Script

# Programs that matter: always (None), or only together with one of these words.
# Commands that do not may be left out of a script; without a table all are kept.
Matters = Mapping[str, frozenset[str] | None]


@dataclass(slots=True)
class Cursor:
    text: str
    origin: Origin
    budget: ReadingBudget
    # Reads a list of commands up to a closing parenthesis, or the end of the text; held
    # here because words hold scripts and scripts hold words.
    script: Callable[[Cursor, str], Script]
    at: int = 0
    depth: int = 0
    # Here-documents whose text begins on the next line.
    heredocs: list[Heredoc] = field(default_factory=list)
    # Where the here-documents read so far stand.
    bodies: list[tuple[int, int]] = field(default_factory=list)
    trouble: str = ""
    unread: bool = False
    matters: Matters | None = None

    def fail(self, trouble: str) -> None:
        """Nothing after this can be told: stop at the end, keep what was read."""
        self.trouble = self.trouble or trouble
        self.unread = True
        self.at = len(self.text)

    def read_nested(self, closer: str) -> Script:
        """A script in the same text, after its opening parenthesis."""
        self.go_deeper()
        script = self.script(self, closer)
        self.depth -= 1
        return script

    def read_inside(self, text: str, origin: Origin) -> Script:
        """A script in a text of its own, such as that between backticks."""
        self.go_deeper()
        self.budget.read(len(text))
        cursor = Cursor(text, origin, self.budget, self.script, depth=self.depth)
        script = self.script(cursor, "")
        self.depth -= 1
        return script

    def go_deeper(self) -> None:
        # Going down costs more than going on.
        self.budget.count_step(4)
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise TooMuchError(f"nested more than {MAX_DEPTH} deep")
