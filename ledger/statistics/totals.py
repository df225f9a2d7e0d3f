"""The sums of a period, and what follows from them."""

from __future__ import annotations

from dataclasses import dataclass

from guidance.core.vocabulary import CALL_DECISIONS, STEP_DECISIONS


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """The columns of `PeriodTotals`, by the same names."""

    runs_started: int = 0
    runs_completed: int = 0
    runs_failed: int = 0
    runs_aborted: int = 0
    runs_abandoned: int = 0
    runs_stopped: int = 0
    runs_reopened: int = 0
    runs_accepted: int = 0
    runs_not_accepted: int = 0
    steps: int = 0
    steps_continue: int = 0
    steps_checkpoint: int = 0
    steps_throttle: int = 0
    steps_pause: int = 0
    steps_stop: int = 0
    steps_rework: int = 0
    calls_allow: int = 0
    calls_warn: int = 0
    calls_require_confirmation: int = 0
    calls_block: int = 0
    reviews_opened: int = 0
    tokens: int = 0
    tool_calls: int = 0
    cost_micros: int = 0
    slope_micros: int = 0
    slope_count: int = 0
    running_ms: int = 0

    @property
    def decisions(self) -> dict[str, int]:
        """Of steps, the most severe first; those that never came are left out."""
        counts = {name: getattr(self, f"steps_{name}") for name in STEP_DECISIONS}
        return {name: count for name, count in counts.items() if count}

    @property
    def call_decisions(self) -> dict[str, int]:
        counts = {
            name: getattr(self, f"calls_{name.replace('-', '_')}")
            for name in CALL_DECISIONS
        }
        return {name: count for name, count in counts.items() if count}

    @property
    def evaluations(self) -> int:
        """Steps that were judged; observed ones are not."""
        return sum(self.decisions.values())

    @property
    def calls(self) -> int:
        return sum(self.call_decisions.values())

    @property
    def running_hours(self) -> float:
        return self.running_ms / 3_600_000

    @property
    def runs_ended(self) -> int:
        """For good: a stopped run may be reopened."""
        return (
            self.runs_completed
            + self.runs_failed
            + self.runs_aborted
            + self.runs_abandoned
        )

    @property
    def average_slope(self) -> float | None:
        """None where no step had one."""
        if not self.slope_count:
            return None
        return round(self.slope_micros / self.slope_count / 1_000_000, 6)
