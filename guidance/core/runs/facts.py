"""What an agent reports about a step, and what cannot be true of it."""

from __future__ import annotations

from typing import NamedTuple, Self


class FactError(ValueError):
    """A figure that cannot be true, named by the field that holds it."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


class _StepFacts(NamedTuple):
    """The fields of a report. A tuple is made in a third of the time (bench batches)."""

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


class StepReport(_StepFacts):
    """What an agent says about one step; all amounts are of this step alone."""

    __slots__ = ()

    def __new__(
        cls,
        number: int,
        tokens: int,
        tool_calls: int,
        duration_ms: int = 0,
        cost_micros: int = 0,
        rework: bool = False,
        checkpoint: bool = False,
        coherence: float | None = None,
        uncertainty: float | None = None,
        confidences: tuple[float, ...] = (),
        intent: str | None = None,
        summary: str = "",
        signature: str | None = None,
        failed_calls: int | None = None,
    ) -> Self:
        if number < 1:
            raise FactError("number", "steps are numbered from 1")
        if tokens < 0:
            raise FactError("tokens", "must not be negative")
        if tool_calls < 0:
            raise FactError("tool_calls", "must not be negative")
        if duration_ms < 0:
            raise FactError("duration_ms", "must not be negative")
        if cost_micros < 0:
            raise FactError("cost_micros", "must not be negative")
        if failed_calls is not None and failed_calls < 0:
            raise FactError("failed_calls", "must not be negative")
        # Written so that NaN, which every comparison denies, is refused as well.
        if coherence is not None and not 0 <= coherence <= 1:
            raise FactError("coherence", "must be from 0 to 1")
        if uncertainty is not None and not 0 <= uncertainty <= 1:
            raise FactError("uncertainty", "must be from 0 to 1")
        for confidence in confidences:
            if not 0 <= confidence <= 1:
                raise FactError("confidences", "each must be from 0 to 1")
        return super().__new__(
            cls,
            number,
            tokens,
            tool_calls,
            duration_ms,
            cost_micros,
            rework,
            checkpoint,
            coherence,
            uncertainty,
            confidences,
            intent,
            summary,
            signature,
            failed_calls,
        )
