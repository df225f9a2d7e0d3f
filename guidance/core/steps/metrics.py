"""The figures returned with every decision, whether or not a gate tripped."""

from __future__ import annotations

from typing import NamedTuple

from guidance.core.money import format_usd
from guidance.core.runs.score_bands import get_coherence_level, get_uncertainty_level
from guidance.core.runs.usage import Remaining
from guidance.core.steps.evidence import Evidence
from guidance.core.steps.scores import CoherenceParts, UncertaintyParts


class Metrics(NamedTuple):
    """A view of the evidence under the names that agents and reviewers know.

    `not_evaluated` names the gates that had nothing to judge by, or failed.
    """

    evidence: Evidence
    checkpoint_interval: int
    not_evaluated: tuple[str, ...]

    @property
    def budget_slope(self) -> float:
        trend = self.evidence.trend
        return 0.0 if trend is None else trend.slope

    @property
    def budget_slope_significant(self) -> bool:
        trend = self.evidence.trend
        return trend is not None and trend.significant

    @property
    def rework_ratio(self) -> float:
        return self.evidence.rework_ratio

    @property
    def rework_ratio_total(self) -> float:
        return self.evidence.rework_ratio_total

    @property
    def steps_since_checkpoint(self) -> int:
        return self.evidence.since_checkpoint

    @property
    def steps_until_checkpoint(self) -> int:
        return max(0, self.checkpoint_interval - self.evidence.since_checkpoint)

    @property
    def coherence(self) -> float | None:
        return self.evidence.coherence

    @property
    def coherence_level(self) -> str | None:
        return get_coherence_level(self.evidence.coherence)

    @property
    def coherence_source(self) -> str:
        return self.evidence.coherence_source

    @property
    def coherence_parts(self) -> CoherenceParts | None:
        return self.evidence.coherence_parts

    @property
    def uncertainty(self) -> float | None:
        return self.evidence.uncertainty

    @property
    def uncertainty_level(self) -> str | None:
        return get_uncertainty_level(self.evidence.uncertainty)

    @property
    def uncertainty_source(self) -> str:
        return self.evidence.uncertainty_source

    @property
    def uncertainty_parts(self) -> UncertaintyParts | None:
        return self.evidence.uncertainty_parts

    @property
    def budget_remaining(self) -> Remaining:
        """Never below zero: by how much a part is overdrawn is the finding's to tell."""
        left = self.evidence.remaining
        return Remaining(
            tokens=_limit_to_zero(left.tokens),
            tool_calls=_limit_to_zero(left.tool_calls),
            time_ms=_limit_to_zero(left.time_ms),
            cost_micros=_limit_to_zero(left.cost_micros),
        )

    def to_json(self) -> dict[str, object]:
        seen = self.evidence
        left = self.budget_remaining
        return {
            "budget_slope": self.budget_slope,
            "budget_slope_significant": self.budget_slope_significant,
            "rework_ratio": seen.rework_ratio,
            "rework_ratio_total": seen.rework_ratio_total,
            "steps_since_checkpoint": seen.since_checkpoint,
            "steps_until_checkpoint": self.steps_until_checkpoint,
            "coherence": seen.coherence,
            "coherence_level": self.coherence_level,
            "coherence_source": seen.coherence_source,
            "coherence_reported": seen.coherence_reported,
            "coherence_computed": seen.coherence_computed,
            "coherence_parts": seen.coherence_parts and seen.coherence_parts.to_json(),
            "uncertainty": seen.uncertainty,
            "uncertainty_level": self.uncertainty_level,
            "uncertainty_source": seen.uncertainty_source,
            "uncertainty_reported": seen.uncertainty_reported,
            "uncertainty_computed": seen.uncertainty_computed,
            "uncertainty_parts": (
                seen.uncertainty_parts and seen.uncertainty_parts.to_json()
            ),
            "budget_remaining": {
                "tokens": left.tokens,
                "tool_calls": left.tool_calls,
                "time_ms": left.time_ms,
                "cost_usd": None
                if left.cost_micros is None
                else format_usd(left.cost_micros),
            },
            "not_evaluated": list(self.not_evaluated),
        }


def _limit_to_zero(amount: int | None) -> int | None:
    return None if amount is None else max(0, amount)
