"""What a call is given: its arguments, or why its text cannot be read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """One thing that was put right in a text that was not quite JSON."""

    line: int
    column: int
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Arguments:
    """`values` as they were read; `repairs` is empty unless the text was lenient."""

    values: dict[str, Any]
    repairs: tuple[Repair, ...] = ()

    @property
    def args_repaired(self) -> bool:
        return bool(self.repairs)


@dataclass(frozen=True, slots=True, kw_only=True)
class ArgumentProblem:
    """Where reading ended; nothing of the text itself is repeated, it may be secret.

    `truncated` says that the text breaks off: what it was to say is not known, so no
    repair is ever tried.
    """

    line: int
    column: int
    message: str
    truncated: bool = False
