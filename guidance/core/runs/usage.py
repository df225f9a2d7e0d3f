"""What a run may use up, has used up, and has left."""

from __future__ import annotations

from dataclasses import dataclass, fields
from operator import sub
from typing import NamedTuple

from guidance.core.runs.facts import StepReport


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What a run may use up in all; None is unlimited."""

    tokens: int | None = 1_000_000
    tool_calls: int | None = 10_000
    time_ms: int | None = 3_600_000
    cost_micros: int | None = 10_000_000

    def list_parts_above(self, ceiling: Budget) -> tuple[str, ...]:
        """The parts that give more than the ceiling does; no limit is above any."""
        return tuple(
            part.name
            for part in fields(Budget)
            if _is_above(getattr(self, part.name), getattr(ceiling, part.name))
        )


class Usage(NamedTuple):
    """What a run has used up so far."""

    tokens: int = 0
    tool_calls: int = 0
    time_ms: int = 0
    cost_micros: int = 0

    def add_step(self, report: StepReport, *, counted_calls: int = 0) -> Usage:
        """`counted_calls` of the step went through the gateway and are counted."""
        tokens, calls, time_ms, cost_micros = self
        return Usage(
            tokens + report.tokens,
            calls + max(0, report.tool_calls - counted_calls),
            time_ms + report.duration_ms,
            cost_micros + report.cost_micros,
        )

    def add_call(self) -> Usage:
        """One more call that may run."""
        return Usage(
            tokens=self.tokens,
            tool_calls=self.tool_calls + 1,
            time_ms=self.time_ms,
            cost_micros=self.cost_micros,
        )

    def subtract(self, before: Usage) -> Usage:
        """What was used since `before`."""
        return Usage(*map(sub, self, before))


class Remaining(NamedTuple):
    """What is left of each part of a budget; None where there is no limit."""

    tokens: int | None = None
    tool_calls: int | None = None
    time_ms: int | None = None
    cost_micros: int | None = None


def _is_above(limit: int | None, ceiling: int | None) -> bool:
    return ceiling is not None and (limit is None or limit > ceiling)
