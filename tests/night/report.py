"""What a night leaves behind: one page that says when it was and how each part came out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

HEADING = "# The last night\n\nWritten by `make nightly`; a night that follows takes its place.\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How one part came out."""

    part: str
    code: int
    seconds: float
    sentences: Sequence[str]

    @property
    def row(self) -> str:
        word = "green" if self.code == 0 else f"**red** (exit {self.code})"
        return f"| {self.part} | {word} | {self.seconds / 60:.0f} min |"


@dataclass(kw_only=True)
class Night:
    """Which night it was, and its parts so far."""

    began: datetime
    commit: str
    python: str
    seed: int
    outcomes: list[Outcome] = field(default_factory=list)

    def add(self, outcome: Outcome) -> None:
        self.outcomes.append(outcome)

    @property
    def green(self) -> bool:
        return all(each.code == 0 for each in self.outcomes)

    def render(self) -> str:
        facts = (
            f"- Began: {self.began:%Y-%m-%d %H:%M} UTC",
            f"- Commit: `{self.commit}`",
            f"- Python: {self.python}",
            f"- Again: `make nightly SEED={self.seed}`",
        )
        table = ("| Part | Outcome | Took |", "|---|---|---|")
        rows = [each.row for each in self.outcomes]
        said = [line for each in self.outcomes for line in each.sentences]
        lines = [HEADING, *facts, "", *table, *rows, "", "```", *said, "```"]
        return "\n".join(lines) + "\n"
