"""What an agent reports about a step, and what cannot be true of it."""

from __future__ import annotations

from dataclasses import dataclass


class FactError(ValueError):
    """A figure that cannot be true, named by the field that holds it."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


@dataclass(frozen=True, slots=True, kw_only=True)
class StepReport:
    """What an agent says about one step; all amounts are of this step alone."""

    number: int
    tokens: int
    tool_calls: int
    duration_ms: int = 0
    cost_micros: int = 0
    rework: bool = False
    checkpoint: bool = False
    coherence: float | None = None
    uncertainty: float | None = None
    confidences: tuple[float, ...] = ()
    intent: str | None = None
    summary: str = ""
    signature: str | None = None
    failed_calls: int | None = None

    def __post_init__(self) -> None:
        if self.number < 1:
            raise FactError("number", "steps are numbered from 1")
        if self.tokens < 0:
            raise FactError("tokens", "must not be negative")
        if self.tool_calls < 0:
            raise FactError("tool_calls", "must not be negative")
        if self.duration_ms < 0:
            raise FactError("duration_ms", "must not be negative")
        if self.cost_micros < 0:
            raise FactError("cost_micros", "must not be negative")
        if self.failed_calls is not None and self.failed_calls < 0:
            raise FactError("failed_calls", "must not be negative")
        # Written so that NaN, which every comparison denies, is refused as well.
        if self.coherence is not None and not 0 <= self.coherence <= 1:
            raise FactError("coherence", "must be from 0 to 1")
        if self.uncertainty is not None and not 0 <= self.uncertainty <= 1:
            raise FactError("uncertainty", "must be from 0 to 1")
        for confidence in self.confidences:
            if not 0 <= confidence <= 1:
                raise FactError("confidences", "each must be from 0 to 1")
