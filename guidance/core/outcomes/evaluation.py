"""What one evaluator says about a finished run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Source = Literal["seen", "reported", "both"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """`score` is from 0 to 1; it and `passed` are None where nothing is known.

    `source` says what it rests on: what the server saw, what the agent reports, or both.
    """

    name: str
    passed: bool | None
    score: float | None
    source: Source | None
    message: str
    details: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "passed": self.passed,
            "score": self.score,
            "source": self.source,
            "message": self.message,
            "details": dict(self.details),
        }


def make_unknown(name: str, message: str) -> Evaluation:
    """Nothing is known: that is neither a pass nor a failure."""
    return Evaluation(name=name, passed=None, score=None, source=None, message=message)


def choose_source(*, seen: bool, reported: bool) -> Source:
    if seen and reported:
        return "both"
    return "seen" if seen else "reported"
