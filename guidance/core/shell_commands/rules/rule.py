"""A rule: what it catches, why that is dangerous, and the safer way. Nothing but data.

A pattern is one line of words:

    git push -f|--force !-n|--dry-run @refs

The first word names programs, `|` between alternatives. `-x` must be given, in whatever
bundle or order; `!-x` must not be, `!word` must not be among the operands. Other words
are the operands in their order: `*` stands for any letters, `**` for any operands.
`@name` is a condition, a function in QUESTIONS of questions.py here or in the folder of
the subject.
"""

from __future__ import annotations

from dataclasses import dataclass

DESTRUCTIVE = "destructive"
# Always asked: no policy lowers its rules, no standing permission covers them.
GUARD = "guard-tampering"
# What a rule may be about; each is the gate of its findings.
FAMILIES = (
    DESTRUCTIVE,
    "credential-read",
    "exfiltration",
    "persistence",
    "privilege",
    "remote-execution",
    GUARD,
)
SEVERITIES = ("critical", "high", "medium", "low")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """`trips` and `passes` are examples, and every one of them is a test.

    `family` is the gate it belongs to. `decision` is what it leads to, unless the policy
    says otherwise: would a reviewer thank us for being asked? `severity` says how bad it is
    if that was wrong.
    """

    name: str
    message: str
    why: str
    safer: str
    family: str = DESTRUCTIVE
    severity: str = "high"
    decision: str = "require-confirmation"
    rollback: str = ""
    patterns: tuple[str, ...] = ()
    trips: tuple[str, ...] = ()
    passes: tuple[str, ...] = ()

    @property
    def advice(self) -> str:
        if not self.rollback:
            return self.safer
        return f"{self.safer} Rollback plan: {self.rollback}"
